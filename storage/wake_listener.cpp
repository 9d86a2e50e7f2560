#include "storage/wake_listener.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

using milliseconds = std::chrono::milliseconds;

/// Ends a poll from another thread.
class stop_signal {
public:
  stop_signal() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {}
  ~stop_signal() { ::close(descriptor_); }
  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;

  void raise() {
    raised_ = true;
    ::eventfd_write(descriptor_, 1);
  }
  bool is_raised() const { return raised_; }

  /// Waits for `socket` (-1: none), the signal or the time. True if the socket has something.
  bool wait(int socket, milliseconds time) const {
    pollfd watched[] = {{descriptor_, POLLIN, 0}, {socket, POLLIN, 0}};
    return ::poll(watched, 2, static_cast<int>(time.count())) > 0 && watched[1].revents != 0;
  }

private:
  int descriptor_;
  std::atomic<bool> raised_ = false;
};

class wake_receiver final : public pqxx::notification_receiver {
public:
  wake_receiver(pqxx::connection& connection, const std::function<void(std::string_view)>& woken)
      : pqxx::notification_receiver(connection, "paceline_wake"), woken_(woken) {}
  void operator()(const std::string& payload, int) override { woken_(payload); }

private:
  const std::function<void(std::string_view)>& woken_;
};

} // namespace

class wake_listener::impl {
public:
  impl(connection_options direct, milliseconds probe_every,
       std::function<void(std::string_view)> woken)
      : options_(std::move(direct)), probe_every_(std::max(probe_every, milliseconds{10})),
        woken_(std::move(woken)) {
    // A probe into a black hole must fail soon, not after a statement's usual time.
    options_.statement_timeout =
        std::min(options_.statement_timeout, std::max(2 * probe_every_, milliseconds{1000}));
    thread_ = std::thread{[this] { serve(); }};
  }

  ~impl() {
    stop_.raise();
    thread_.join();
  }

private:
  static constexpr milliseconds first_pause{50};
  static constexpr milliseconds longest_pause{1000};

  void serve() {
    auto pause = first_pause;
    while (!stop_.is_raised()) {
      auto opened = session::open(options_, counts_);
      if (opened && listen(**opened))
        pause = first_pause;
      // A connection that was good and went is tried again after the shortest pause.
      stop_.wait(-1, pause);
      pause = std::min(2 * pause, longest_pause);
    }
  }

  /// Until the connection is lost or the listener stops. True if it ever listened.
  bool listen(session& on) {
    bool listened = false;
    try {
      const wake_receiver receiver{on.raw(), woken_};
      listened = true;
      woken_({});
      while (!stop_.is_raised() && on.raw().is_open()) {
        const bool has_something = stop_.wait(on.raw().sock(), probe_every_);
        if (!has_something && !stop_.is_raised() && !on.run(sql::probe_connection))
          break;
        on.raw().get_notifs(); // also what came along with the probe's answer
      }
    } catch (const std::exception&) { // lost: the caller connects anew
    }
    return listened;
  }

  connection_options options_;
  milliseconds probe_every_;
  std::function<void(std::string_view)> woken_;
  statement_counts counts_;
  stop_signal stop_;
  std::thread thread_;
};

wake_listener::wake_listener(connection_options direct, milliseconds probe_every,
                             std::function<void(std::string_view route)> woken)
    : impl_(std::make_unique<impl>(std::move(direct), probe_every, std::move(woken))) {}

wake_listener::~wake_listener() = default;

result<done> send_wake(session& on, std::string_view route) {
  const auto sent = on.run(sql::send_wake, route);
  if (!sent)
    return sent.failure();
  return done{};
}

} // namespace paceline
