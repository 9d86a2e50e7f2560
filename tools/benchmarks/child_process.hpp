/// Other programs: started with a log file, stopped by their process id, never left behind.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace paceline::bench {

/// A program that runs beside us, such as `paceline serve`. It is killed when we die, however we
/// die. Start it from the program's first thread: the kernel counts that thread's end as our death.
class child_process {
public:
  /// Appends its standard output and error to `log`. Throws `std::system_error`.
  child_process(const std::vector<std::string>& arguments, const std::string& log);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process(); ///< kills it if it still runs

  pid_t id() const { return id_; }
  /// False from its end on.
  bool is_running();
  /// SIGTERM, then waits. Returns the exit status, or 128 + the number of the signal that ended it.
  int stop();

private:
  pid_t id_ = -1;
  int status_ = -1; ///< -1 while it runs
};

/// Runs a program to its end and returns what it wrote to standard output. Throws
/// `std::runtime_error` with the end of its standard error where the exit status is not 0.
std::string run_to_end(const std::vector<std::string>& arguments, const std::string& error_file);

/// The end of a file, for messages; empty if it can't be read.
std::string tail_of(const std::string& path);

} // namespace paceline::bench
