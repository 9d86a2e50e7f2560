/// What the kernel says about this process, from /proc.
#pragma once

#include <cstdint>
#include <optional>

namespace paceline {

struct process_figures {
  std::int64_t resident_bytes = 0;
  std::int64_t threads = 0;
  std::int64_t open_descriptors = 0;
  std::int64_t max_descriptors = 0; ///< -1: no limit
  double cpu_seconds = 0;           ///< user and system, to the hundredth
  double started_at = 0;            ///< seconds since 1970, to the hundredth
};

/// Nothing where /proc is not mounted or can't be read just now.
std::optional<process_figures> read_process_figures();

} // namespace paceline
