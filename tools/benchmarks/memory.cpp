#include "tools/benchmarks/memory.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace paceline::bench {

void memory_use::raise_to(const memory_use& other) {
  uss_mb = std::max(uss_mb, other.uss_mb);
  pss_mb = std::max(pss_mb, other.pss_mb);
  rss_mb = std::max(rss_mb, other.rss_mb);
}

memory_use memory_of(pid_t process) {
  const auto path = "/proc/" + std::to_string(process) + "/smaps_rollup";
  std::ifstream file(path);
  memory_use use;
  std::string line, name;
  std::getline(file, line); // the range of addresses
  while (file >> name) {
    double kilobytes = 0;
    file >> kilobytes;
    std::getline(file, line); // " kB"
    if (name == "Rss:")
      use.rss_mb = kilobytes / 1024;
    else if (name == "Pss:")
      use.pss_mb = kilobytes / 1024;
    else if (name == "Private_Clean:" || name == "Private_Dirty:" || name == "Private_Hugetlb:")
      use.uss_mb += kilobytes / 1024;
  }
  if (use.rss_mb == 0)
    throw std::runtime_error("can't read " + path);
  return use;
}

double cpu_seconds_of(pid_t process) {
  const auto path = "/proc/" + std::to_string(process) + "/stat";
  std::ifstream file(path);
  std::string field;
  std::getline(file, field, ')'); // the name may hold blanks
  // After it fields 3 to 13, then user and system time in clock ticks (proc(5)).
  for (int skipped = 3; skipped <= 13; ++skipped)
    file >> field;
  double user = 0, system = 0;
  if (!(file >> user >> system))
    throw std::runtime_error("can't read " + path);
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

} // namespace paceline::bench
