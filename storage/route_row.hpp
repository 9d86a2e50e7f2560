/// Rows of SQL as route readings; for `storage/*.cpp` alone.
#pragma once

#include <pqxx/pqxx>

#include "storage/model/route_reading.hpp"

namespace paceline {

inline database_instant instant_from_ns(std::int64_t ns) {
  return database_instant{nanoseconds{ns}};
}

/// Makes a reading from a row with the columns
///   id, generation, shard_count, grid_number, grid_start_ns, target_mhz, next_start_ns,
///   next_target_mhz, read_at_ns, brake_left_ns, state, state_reason, waiting_left_ns,
///   daily_limited
/// A next grid that has started by `read_at_ns` is reported as the current one, and a wait that is
/// over as `running`. Throws pqxx's exceptions where a column is missing.
route_reading reading_from(const pqxx::row& row);

} // namespace paceline
