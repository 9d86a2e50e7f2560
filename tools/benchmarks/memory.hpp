/// The memory and the processor time of a process, as the kernel counts them.
#pragma once

#include <sys/types.h>

namespace paceline::bench {

/// Mebibytes. USS is what would come back if the process ended; PSS adds its share of pages that it
/// has in common with others (libraries, mostly); RSS counts those whole.
struct memory_use {
  double uss_mb = 0, pss_mb = 0, rss_mb = 0;

  /// Each figure's larger one.
  void raise_to(const memory_use& other);
};

/// Reads /proc/ID/smaps_rollup. Throws `std::runtime_error` if there is no such process.
memory_use memory_of(pid_t process);

/// User and system time of all its threads since its start. Throws as `memory_of`.
double cpu_seconds_of(pid_t process);

} // namespace paceline::bench
