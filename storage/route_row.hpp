/// One row of the view `route_readings` as a route_reading. Internal to this floor: it needs
/// libpqxx.
#pragma once

#include <pqxx/pqxx>

#include "storage/model/route_reading.hpp"

namespace paceline {

/// Columns are found by the view's names (route, generation, shard_count, grid_number,
/// grid_start_ns, target_mhz, next_start_ns, next_target_mhz, read_at_ns, brake_left_ns, state,
/// state_reason, waiting_left_ns, daily_limited), so a statement may return others beside them.
/// Throws libpqxx's exceptions where one is missing.
route_reading read_route_row(const pqxx::row& row);

} // namespace paceline
