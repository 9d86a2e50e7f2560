/// Ctrl-C for a command that waits, without a handler and without globals.
#pragma once

#include <chrono>
#include <csignal>

namespace paceline {

/// While it lives, SIGINT, SIGTERM and SIGHUP don't end the process but a `sleep`. For a program
/// with one thread.
class interrupt_watch {
public:
  interrupt_watch();
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

  /// Sleeps for that long; true at once when one of the signals came, also before the call.
  bool sleep(std::chrono::milliseconds time);

private:
  sigset_t watched_{}, before_{};
};

} // namespace paceline
