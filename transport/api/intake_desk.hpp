/// Gathers what many requests want stored into few statements, without ever waiting for more.
///
/// While a database connection stores, further calls queue up; whoever comes free takes all that
/// waits, up to 200 calls, 5,000 messages or 8 MiB. An idle desk stores a call at once. A second
/// statement runs beside the first only where more waits than a statement is worth, or for longer
/// than one takes (the first may wait for a row that somebody holds): small calls are stored faster
/// by one busy connection than by several, because the cost of a statement is shared by more of
/// them. The queue is bounded, and so is every wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/intake.hpp"
#include "storage/pool.hpp"
#include "transport/api/id_desk.hpp"

namespace paceline {

struct intake_desk_options {
  int statements = 2;                                  ///< at once, at most
  std::size_t most_calls = 2000;                       ///< waiting
  std::size_t most_bytes = 64u << 20;                  ///< of those
  std::chrono::milliseconds store_patience{3000};      ///< for a database that is away
  std::chrono::milliseconds doubt_patience{10'000};    ///< for a commit of which nobody saw the end
  std::function<void(std::size_t calls)> on_statement; ///< before each; may be empty
};

/// One request's call, on its own stack.
struct intake_job {
  intake_call call; ///< ids are given by the desk
  std::int16_t status = 202;
  /// Makes the answer's body once the ids are known; called again if they had to change.
  std::function<std::string(const intake_call&)> respond;
  std::string response; ///< what `respond` made last
};

/// Thread-safe. The pool outlives it; destroying it waits for statements that run.
class intake_desk {
public:
  intake_desk(database_pool& pool, id_desk& ids, intake_desk_options options);
  ~intake_desk();
  intake_desk(const intake_desk&) = delete;
  intake_desk& operator=(const intake_desk&) = delete;

  /// Stores the call; blocks until it is committed or has failed. Errors: `overloaded` (the queue
  /// is full) and `unavailable` (no database in time): nothing was stored, a retry helps;
  /// `in_doubt`: it may have been stored; `data`: a value can't be stored; `internal`.
  result<intake_reply> take(intake_job& job);

private:
  struct ticket {
    intake_job* job = nullptr;
    std::size_t bytes = 0;
    bool in_doubt = false; ///< a commit's end was not seen
    bool is_waiting = true;
    std::optional<result<intake_reply>> answer;
    std::optional<error> last_failure;
    std::chrono::steady_clock::time_point came;
    std::condition_variable answered;
  };
  /// Null where a ticket has been answered or put back: then it may be gone.
  using group = std::vector<ticket*>;

  void start_statement();
  bool deserves_another() const;
  void work_off(session* on, const error& why);
  void serve(session* on, const error& why);
  void take_group(group& taken);
  void store(session& on, group& tickets);
  void store_alone(session& on, ticket*& one);
  void settle(std::span<ticket*> tickets, std::vector<intake_reply> replies);
  void put_back(std::span<ticket*> tickets, const error& why);
  void answer(ticket*& one, result<intake_reply> with);
  void give_ids(intake_job& job);
  void forget(ticket& one);
  bool wait(std::unique_lock<std::mutex>& lock, ticket& one);

  database_pool& pool_;
  id_desk& ids_;
  const intake_desk_options options_;
  std::mutex mutex_;
  std::condition_variable idle_; ///< a statement ended, or we stop
  std::deque<ticket*> waiting_;
  std::size_t waiting_bytes_ = 0, waiting_messages_ = 0;
  int statements_ = 0;     ///< submitted to the pool or running
  bool is_coming_ = false; ///< one is submitted and has not taken its group yet
  bool stopping_ = false;
};

} // namespace paceline
