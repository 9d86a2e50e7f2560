#include "tools/benchmarks/machine.hpp"

#include <fstream>
#include <string_view>
#include <sys/utsname.h>
#include <thread>
namespace paceline::bench {
namespace {

/// What follows `name` and a separator on its first line; `otherwise` if there is none.
std::string line_value(const char* path, std::string_view name, char separator,
                       const std::string& otherwise) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const auto at = line.find(separator);
    if (!line.starts_with(name) || at == std::string::npos)
      continue;
    const auto begin = line.find_first_not_of(" \t\"", at + 1);
    const auto end = line.find_last_not_of(" \t\"");
    return begin == std::string::npos ? otherwise : line.substr(begin, end - begin + 1);
  }
  return otherwise;
}

std::string memory_text() {
  const auto kilobytes = line_value("/proc/meminfo", "MemTotal", ':', "0");
  return decimal(std::stod(kilobytes) / 1024 / 1024) + " GiB";
}

/// Debian's package says more than the library's own number.
std::string package_version(const char* package) {
  std::ifstream file("/var/lib/dpkg/status");
  std::string line;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line.starts_with("Package: "))
      inside = line == std::string{"Package: "} + package;
    else if (inside && line.starts_with("Version: "))
      return line.substr(9);
  }
  return "unknown";
}

} // namespace

environment describe_environment() {
  utsname system{};
  ::uname(&system);
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  environment on;
  on.machine = counted(cores, "core") + " of "
               + line_value("/proc/cpuinfo", "model name", ':', system.machine) + ", "
               + memory_text() + ", "
               + line_value("/etc/os-release", "PRETTY_NAME", '=', "unknown system") + ", Linux "
               + system.release;
  on.versions = {{"paceline", PACELINE_VERSION " (" PACELINE_BUILD_TYPE ")"},
                 {"postgresql", package_version("postgresql-15")},
                 {"caf", package_version("libcaf-dev")},
                 {"libpqxx", package_version("libpqxx-dev")},
                 {"compiler", "g++ " __VERSION__}};
  return on;
}

} // namespace paceline::bench
