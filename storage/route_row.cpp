#include "storage/route_row.hpp"

#include <string>

namespace paceline {
namespace {

route_state read_state(const std::string& text) {
  if (text == "running")
    return route_state::running;
  return text == "waiting" ? route_state::waiting : route_state::stopped;
}

database_instant read_instant(const pqxx::field& field) {
  return database_instant{nanoseconds{field.as<std::int64_t>()}};
}

} // namespace

route_reading read_route_row(const pqxx::row& row) {
  route_reading reading;
  reading.route = route_id{row["route"].as<std::int64_t>()};
  reading.generation = row["generation"].as<std::int32_t>();
  reading.shard_count = row["shard_count"].as<std::int32_t>();
  reading.current = {row["grid_number"].as<std::int64_t>(), read_instant(row["grid_start_ns"]),
                     rate::from_millihertz(row["target_mhz"].as<std::int64_t>())};
  if (!row["next_start_ns"].is_null())
    reading.next = grid{reading.current.number + 1, read_instant(row["next_start_ns"]),
                        rate::from_millihertz(row["next_target_mhz"].as<std::int64_t>())};
  reading.read_at = read_instant(row["read_at_ns"]);
  reading.brake_left = nanoseconds{row["brake_left_ns"].as<std::int64_t>()};
  reading.state = read_state(row["state"].as<std::string>());
  reading.state_reason = row["state_reason"].as<std::string>();
  reading.waiting_left = nanoseconds{row["waiting_left_ns"].as<std::int64_t>()};
  reading.daily_limited = row["daily_limited"].as<bool>();
  return reading;
}

} // namespace paceline
