/// Rows of SQL as route readings; for `storage/*.cpp` alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/model/route_reading.hpp"
#include "storage/session.hpp"

namespace paceline {

inline database_instant instant_from_ns(std::int64_t ns) {
  return database_instant{nanoseconds{ns}};
}

/// Makes a reading from a row with the columns of the view `route_readings`.
/// A next grid that has started by `read_at_ns` is reported as the current one, and a wait that is
/// over as `running`. Throws pqxx's exceptions where a column is missing.
route_reading reading_from(const pqxx::row& row);

/// The columns `state` and `waiting_left_ns` of that view; a wait that is over is `running`.
route_state route_state_from(std::string_view text, nanoseconds waiting_left);

} // namespace paceline
