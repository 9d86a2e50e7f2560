/// What every bench is given: the program to measure, how thorough to be, and a way to wait that
/// says how far things are.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tools/paceline/interrupt.hpp"
#include "tools/paceline/output.hpp"

namespace paceline::bench {

/// Ctrl-C: everything that was started is taken down on the way out.
struct interrupted : std::runtime_error {
  interrupted() : std::runtime_error("interrupted") {}
};

struct stage_options {
  std::string program; ///< path of `paceline`
  bool quick = false;  ///< fewer recipients and runs: for trying the bench, not for figures
  bool full = false;   ///< more runs
  int minutes = 10;    ///< of an outage
  std::vector<std::string> overrides; ///< `key=value` for `paceline serve`, on top of the bench's
};

class stage {
public:
  explicit stage(stage_options options);

  const stage_options& options() const { return options_; }

  /// Throws `interrupted`.
  void sleep(std::chrono::milliseconds time);
  /// One line on standard error.
  void note(std::string_view text);
  /// Rewrites one line on a terminal; elsewhere a line every five seconds.
  void progress(const std::string& text);

private:
  void leave_line();

  stage_options options_;
  interrupt_watch interrupts_;
  terminal errors_ = describe_terminal(2);
  std::chrono::steady_clock::time_point next_line_{};
  bool is_open_ = false;
};

} // namespace paceline::bench
