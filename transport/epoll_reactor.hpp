/// The reactor on epoll: descriptors, timers and a wake-up from other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "transport/providers/provider.hpp"
#include "transport/timer_heap.hpp"

namespace paceline {

/// Owned by one thread, which calls everything but `wake`.
class epoll_reactor final : public reactor {
public:
  /// `clock` must outlive this. Throws std::system_error when the kernel gives no descriptors.
  explicit epoll_reactor(const boot_time& clock);
  ~epoll_reactor() override;
  epoll_reactor(const epoll_reactor&) = delete;
  epoll_reactor& operator=(const epoll_reactor&) = delete;

  boot_instant now() const override { return clock_.now(); }
  void at(boot_instant when, std::function<void()> task) override;
  /// Throws std::system_error for a descriptor that epoll does not take.
  void watch(int descriptor, std::uint32_t events,
             std::function<void(std::uint32_t)> ready) override;

  /// Sleeps until a descriptor is ready, `wake` was called, a timer is due or `until` has come
  /// (nothing: no limit), and calls what became ready. Timers run in `run_timers`. Never ends
  /// before `until` without one of these, and up to 0.2 ms after it at high rates, 1 ms after a
  /// timer.
  void wait(std::optional<boot_instant> until);
  /// Runs a bounded number of due timers.
  void run_timers();
  /// Ends the wait, also one that begins later. Thread-safe.
  void wake() noexcept;

private:
  /// A descriptor's number comes back for another connection; the serial tells them apart.
  struct watcher {
    std::uint32_t serial = 0;
    std::shared_ptr<std::function<void(std::uint32_t)>> ready;
  };
  void dispatch(std::uint64_t key, std::uint32_t events);

  const boot_time& clock_;
  timer_heap timers_;
  std::unordered_map<int, watcher> watchers_;
  std::uint32_t serials_ = 0;
  boot_instant woken_{}; ///< when the last wait ended
  int epoll_ = -1;
  int wake_ = -1;
};

} // namespace paceline
