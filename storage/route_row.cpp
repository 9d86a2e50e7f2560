#include "storage/route_row.hpp"

namespace paceline {

route_state route_state_from(std::string_view text, nanoseconds waiting_left) {
  if (text == "stopped")
    return route_state::stopped;
  if (text == "paused")
    return route_state::paused;
  if (text == "waiting" && waiting_left > nanoseconds{0})
    return route_state::waiting;
  return route_state::running;
}

route_reading reading_from(const pqxx::row& row) {
  const auto number = [&row](const char* column) { return row[column].as<std::int64_t>(); };
  route_reading reading;
  reading.route = route_id{number("id")};
  reading.generation = row["generation"].as<std::int32_t>();
  reading.shard_count = row["shard_count"].as<std::int32_t>();
  reading.current = {number("grid_number"), instant_from_ns(number("grid_start_ns")),
                     rate::from_millihertz(number("target_mhz"))};
  reading.read_at = instant_from_ns(number("read_at_ns"));
  if (!row["next_start_ns"].is_null()) {
    const grid next{reading.current.number + 1, instant_from_ns(number("next_start_ns")),
                    rate::from_millihertz(number("next_target_mhz"))};
    if (next.start <= reading.read_at)
      reading.current = next;
    else
      reading.next = next;
  }
  reading.brake_left = nanoseconds{number("brake_left_ns")};
  reading.waiting_left = nanoseconds{number("waiting_left_ns")};
  reading.state = route_state_from(row["state"].c_str(), reading.waiting_left);
  if (reading.state != route_state::running)
    reading.state_reason = row["state_reason"].as<std::string>();
  reading.daily_limited = row["daily_limited"].as<bool>();
  reading.override_rate = rate::from_millihertz(number("override_mhz"));
  reading.quota = rate::from_millihertz(number("quota_mhz"));
  return reading;
}

} // namespace paceline
