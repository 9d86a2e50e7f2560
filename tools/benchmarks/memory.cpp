#include "tools/benchmarks/memory.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

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

} // namespace paceline::bench
