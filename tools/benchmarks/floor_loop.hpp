/// The floor: what bare libpq does in the same time on the same cluster (floor.sql).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tools/benchmarks/cluster.hpp"

namespace paceline::bench {

/// `-- name: x` blocks of a text, by name. Throws `std::invalid_argument` for a block twice.
std::map<std::string, std::string> named_blocks(std::string_view text);

struct floor_settings {
  std::int64_t messages = 100'000;
  int connections = 4; ///< each with a thread of its own
  int group = 100;
};

/// Makes a database, fills it and drains it; returns messages per second. Throws
/// `std::runtime_error`, also where a message was left or done twice.
double run_floor(cluster& on, const floor_settings& settings);

} // namespace paceline::bench
