/// A running `paceline serve`, to be watched, frozen and killed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "test/support/waiting.hpp"

namespace paceline::test {

/// The process is started by the constructor and killed by the destructor, or by the kernel where
/// the thread that started it ends. Its standard error is a file. Not thread-safe.
class served_node {
public:
  /// `arguments[0]` is the program; `log` is the file for its standard error, appended to.
  served_node(std::vector<std::string> arguments, std::string log);
  served_node(const served_node&) = delete;
  served_node& operator=(const served_node&) = delete;
  ~served_node();

  bool is_running();
  /// SIGKILL, SIGSTOP, SIGCONT, SIGTERM.
  void signal(int number) const;
  /// Its exit status, or 128 + the signal that ended it. Throws where it does not end in time.
  int wait_for_end(std::chrono::milliseconds patience = long_enough);
  /// SIGKILL, and gone.
  void kill();
  /// SIGTERM, and the exit status.
  int terminate();

  /// Throws with the end of the log if the process ends before, or `what` takes too long.
  void wait_until(const std::string& what, const std::function<bool()>& holds,
                  std::chrono::milliseconds patience = long_enough);
  /// It has said that it serves.
  void wait_until_serving();

  /// The port on 127.0.0.1 of its `api` or `admin` listener, once it serves.
  int port_of(const std::string& listener) const;

  std::string log() const;
  /// How often `text` occurs in the log.
  int logged(std::string_view text) const;

private:
  pid_t process_ = 0;
  std::string log_file_;
  std::optional<int> status_;
};

} // namespace paceline::test
