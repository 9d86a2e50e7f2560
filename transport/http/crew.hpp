/// Threads that wait for ready connections together and serve what comes; as many as are needed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "transport/http/channel.hpp"

namespace paceline {

/// Starts a thread that takes no signals: these are for the program's own threads.
std::thread start_quiet_thread(const std::string& name, std::function<void()> run);

/// All threads wait in one epoll set; the kernel wakes the one that waited last, so that spare
/// ones stay idle and end. There is always one that waits, until `most` are busy.
class crew {
public:
  using job = std::function<void(std::uint64_t key)>;

  /// `make_job` is called on each new thread for what it calls with the key of each ready
  /// descriptor. `wants_help` is called, on one of the threads, when nobody is left who waits or a
  /// thread has ended: then `grow` should be called. Throws std::system_error where the kernel
  /// gives no descriptors. A thread that has waited for `idle` ends where another one waits.
  crew(std::string name, int most, std::chrono::milliseconds idle, std::function<job()> make_job,
       std::function<void()> wants_help);
  ~crew(); ///< as stop()

  int epoll() const { return epoll_.number(); }
  int busy() const { return threads_.load() - waiting_.load(); }

  /// To be called by one thread after `wants_help`, and each millisecond again while it returns
  /// true. Starts a thread where all are busy and get too little done; joins those that have ended.
  bool grow();
  /// To be called by a job before something that may take long.
  void may_block();
  /// Ends the threads, each after its current job.
  void stop();

private:
  struct member {
    std::thread thread;
    std::atomic<bool> has_ended{false};
  };

  void start_one();
  void run(member& self);
  bool leaves();
  void join_ended();

  const std::string name_;
  const int most_;
  const int idle_ms_;
  const std::function<job()> make_job_;
  const std::function<void()> wants_help_;
  owned_socket epoll_;
  owned_socket wake_;

  std::list<member> members_; ///< touched by who constructs, grows and stops
  std::atomic<int> threads_{0}, waiting_{0};
  std::atomic<std::uint64_t> jobs_done_{0};
  std::atomic<bool> help_wanted_{false}, stopping_{false};
  std::uint64_t jobs_at_last_look_ = 0;
};

} // namespace paceline
