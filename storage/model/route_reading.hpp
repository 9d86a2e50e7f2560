/// What a node knows of a route: one reading of its row, fresh from the database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"
#include "storage/model/rate.hpp"

namespace paceline {

enum class route_state {
  running,
  waiting, ///< the daily quota is used up; `waiting_left` says for how long
  stopped, ///< the provider refuses to send for this account; `state_reason` says why
  paused,  ///< by an operator
};

struct route_reading {
  route_id route;
  std::int32_t generation = 1;
  std::int32_t shard_count = 1;
  grid current;
  std::optional<grid> next;   ///< takes over at its start; number is current.number + 1
  database_instant read_at{}; ///< `clock_timestamp()` of the reading
  nanoseconds brake_left{0};  ///< remaining duration of the brake, 0 if none
  route_state state = route_state::running;
  std::string state_reason;
  nanoseconds waiting_left{0};
  rate quota;                 ///< the provider's maximum send rate as last heard; zero: never yet
  rate override_rate;         ///< an operator's target in place of the configured one; zero: none
  bool daily_limited = false; ///< whether shards must draw grants before they send
};

/// The provider's own figures, and how old our copy is.
struct quota_reading {
  rate max_send_rate;
  std::int64_t max_24h = -1; ///< -1: unlimited
  std::int64_t sent_24h = 0;
};

} // namespace paceline
