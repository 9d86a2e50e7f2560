#include "config/process_figures.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace paceline {
namespace {

/// The fields of proc(5)'s stat from the third on: the second is the program's name in brackets and
/// may have anything in it.
std::vector<std::string> stat_fields() {
  std::ifstream file{"/proc/self/stat"};
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');
  if (end == std::string::npos)
    return {};
  std::istringstream rest{line.substr(end + 1)};
  return {std::istream_iterator<std::string>{rest}, {}};
}

/// When the machine was started, in seconds since 1970.
std::optional<double> boot_time() {
  std::ifstream file{"/proc/stat"};
  for (std::string word; file >> word;)
    if (double seconds = 0; word == "btime" && file >> seconds)
      return seconds;
  return std::nullopt;
}

std::int64_t count_descriptors() {
  std::error_code failure;
  std::filesystem::directory_iterator open{"/proc/self/fd", failure};
  if (failure)
    return 0;
  return std::distance(begin(open), end(open)) - 1; // the one that reads the folder
}

std::int64_t limit_of_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return -1;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

} // namespace

std::optional<process_figures> read_process_figures() {
  // Numbers as in proc(5), where the first field is 1; ours begin with 3.
  constexpr std::size_t user = 14 - 3, system = 15 - 3, threads = 20 - 3, start = 22 - 3,
                        resident = 24 - 3;
  const auto fields = stat_fields();
  const auto booted = boot_time();
  if (fields.size() <= resident || !booted)
    return std::nullopt;
  const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  process_figures read;
  read.cpu_seconds = (std::stod(fields[user]) + std::stod(fields[system])) / tick;
  read.threads = std::stoll(fields[threads]);
  read.started_at = *booted + std::stod(fields[start]) / tick;
  read.resident_bytes = std::stoll(fields[resident]) * ::sysconf(_SC_PAGESIZE);
  read.open_descriptors = count_descriptors();
  read.max_descriptors = limit_of_descriptors();
  return read;
}

} // namespace paceline
