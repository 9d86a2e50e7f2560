/// Runs another program and waits for it.
#pragma once

#include <string>
#include <vector>

namespace paceline::test {

struct program_end {
  int status = 0;     ///< exit status; 128 + the signal's number where a signal ended it
  std::string output; ///< what it wrote to standard output
  std::string errors; ///< what it wrote to standard error
};

/// `arguments[0]` is the program's path, or a name looked up in PATH. Its standard input is empty.
/// A process that it leaves behind is not waited for. Throws `std::system_error` where it can't be
/// started.
program_end run_program(const std::vector<std::string>& arguments);

} // namespace paceline::test
