#include "tools/paceline/interrupt.hpp"

#include <cerrno>

namespace paceline {

interrupt_watch::interrupt_watch() {
  ::sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    ::sigaddset(&watched_, signal);
  ::pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

interrupt_watch::~interrupt_watch() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool interrupt_watch::sleep(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left = std::max(std::chrono::nanoseconds{0},
                               std::chrono::nanoseconds{end - std::chrono::steady_clock::now()});
    const timespec patience{static_cast<time_t>(left.count() / 1'000'000'000),
                            static_cast<long>(left.count() % 1'000'000'000)};
    if (::sigtimedwait(&watched_, nullptr, &patience) > 0)
      return true;
    if (errno != EINTR) // EAGAIN: the time is over
      return false;
  }
}

} // namespace paceline
