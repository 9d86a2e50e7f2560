#include "transport/epoll_reactor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace paceline {
namespace {

constexpr int events_per_wait = 64;
constexpr std::size_t timers_per_pass = 64;
/// A wake costs 10 to 30 us. Above 5,000 slots a second the thread takes those that came in between
/// together, a fifth of a millisecond late at most ...
constexpr auto wake_distance = std::chrono::microseconds{200};
/// ... and timers, which are mostly answers, wait for a wake that happens anyway.
constexpr auto timer_slack = std::chrono::milliseconds{1};
constexpr std::uint64_t wake_key = ~std::uint64_t{0};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::uint64_t key_of(int descriptor, std::uint32_t serial) {
  return (std::uint64_t{serial} << 32) | static_cast<std::uint32_t>(descriptor);
}

/// Where a container's filter forbids epoll_pwait2 (it is from 2020), a poll of the epoll
/// descriptor sleeps as precisely with one system call more.
int wait_precisely(int epoll, epoll_event* events, const timespec* timeout) {
  int ready = ::epoll_pwait2(epoll, events, events_per_wait, timeout, nullptr);
  if (ready >= 0 || (errno != ENOSYS && errno != EPERM))
    return ready;
  pollfd one{epoll, POLLIN, 0};
  ready = ::ppoll(&one, 1, timeout, nullptr);
  return ready <= 0 ? ready : ::epoll_wait(epoll, events, events_per_wait, 0);
}

} // namespace

epoll_reactor::epoll_reactor(const boot_time& clock) : clock_(clock) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0)
    fail("epoll_create1");
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = wake_key;
  if (wake_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    int code = errno;
    if (wake_ >= 0)
      ::close(wake_);
    ::close(epoll_);
    errno = code;
    fail("eventfd");
  }
}

epoll_reactor::~epoll_reactor() {
  ::close(wake_);
  ::close(epoll_);
}

void epoll_reactor::at(boot_instant when, std::function<void()> task) {
  timers_.add(when, std::move(task));
}

void epoll_reactor::watch(int descriptor, std::uint32_t events,
                          std::function<void(std::uint32_t)> ready) {
  auto known = watchers_.find(descriptor);
  if (events == 0) {
    if (known != watchers_.end()) {
      ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr); // fails if it was closed: fine
      watchers_.erase(known);
    }
    return;
  }
  watcher fresh{++serials_, std::make_shared<std::function<void(std::uint32_t)>>(std::move(ready))};
  epoll_event event{};
  event.events = events;
  event.data.u64 = key_of(descriptor, fresh.serial);
  if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event) != 0
      && (errno != ENOENT || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0))
    fail("epoll_ctl");
  watchers_.insert_or_assign(descriptor, std::move(fresh));
}

void epoll_reactor::wait(std::optional<boot_instant> until) {
  auto now = clock_.now();
  if (auto timer = timers_.next()) {
    auto due = *timer <= now ? *timer : *timer + timer_slack;
    until = until ? std::min(*until, due) : due;
  }
  timespec timeout{};
  if (until) {
    if (*until > now)
      until = std::max(*until, woken_ + wake_distance);
    auto left = std::max(nanoseconds{0}, *until - now);
    timeout.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
  }
  std::array<epoll_event, events_per_wait> events{};
  int ready = wait_precisely(epoll_, events.data(), until ? &timeout : nullptr);
  if (ready < 0 && errno != EINTR)
    fail("epoll_pwait2");
  woken_ = clock_.now();
  for (int i = 0; i < ready; ++i)
    dispatch(events[static_cast<std::size_t>(i)].data.u64,
             events[static_cast<std::size_t>(i)].events);
}

void epoll_reactor::dispatch(std::uint64_t key, std::uint32_t events) {
  if (key == wake_key) {
    std::uint64_t count = 0;
    [[maybe_unused]] auto got = ::read(wake_, &count, sizeof count);
    return;
  }
  auto found = watchers_.find(static_cast<int>(key & 0xffffffff));
  if (found == watchers_.end() || found->second.serial != static_cast<std::uint32_t>(key >> 32))
    return;                         // an earlier callback of this round removed it
  auto ready = found->second.ready; // stays alive if the callback removes itself
  (*ready)(events);
}

void epoll_reactor::run_timers() {
  timers_.run_due(clock_.now(), timers_per_pass);
}

void epoll_reactor::wake() noexcept {
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_, &one, sizeof one);
}

} // namespace paceline
