/// The route's row: quota cache, target grid, brake, daily grants. Shared by all nodes.
///
/// A new target never replaces the grid at once: it is written with the database instant at which
/// its grid starts. All functions block and may be repeated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/route_reading.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// How soon a new grid may start.
struct grid_lead {
  /// Normal: 1.25 s, because no shard uses a slot later than 1 s after it last read the route.
  nanoseconds cluster = std::chrono::milliseconds{1250};
  /// Used instead when this node owns every owned shard of the route and its courier already
  /// refuses the old grid.
  std::optional<nanoseconds> held;
};

/// Wins the right to ask the provider, for all nodes: conditional on the cache being older than
/// `max_age` (or stale) and nobody asking within `refreshing_until` (5 s). Never more than once a
/// second. False: somebody else.
result<bool> begin_quota_refresh(session&, route_id, nanoseconds max_age);

/// Stores what the provider said, resets the grants since, recounts our own 24 h from route_grants,
/// ends a wait for the daily quota if there is room again.
result<done> store_quota(session&, route_id, const quota_reading&);

/// Gives the route `target` by a new grid, unless its newest grid has it already. `by` and `held`
/// lead: see grid_lead. A pending grid that has not started becomes the current one (its slots are
/// still in the future) and the new one follows it. Returns the route as it is afterwards.
result<route_reading> set_target(session&, route_id, node_id by, rate target, const grid_lead&);

/// A rate 429: brake_until = now + `brake` (a brake in force is prolonged), quota stale, and by a
/// new grid half of the target in force. While a brake is in force the newest target stays if its
/// grid began within the last second or the provider allows it. There is always a new grid, since
/// couriers refuse all grids before it. Returns the route afterwards.
result<route_reading> brake_route(session&, route_id, node_id by, nanoseconds brake,
                                  const grid_lead&);

/// Draws `wanted` from the daily quota: all of it or as much as is left. 0: the route is set to
/// `waiting` for up to one hour at a time (its state says until when) and a quota refresh ends it
/// earlier; or it is stopped or paused, and stays so.
result<std::int64_t> draw_grant(session&, route_id, std::int64_t wanted);

/// The reason of a wait for the daily quota, which ends early when a quota reading shows room.
inline constexpr std::string_view daily_quota_reason = "daily quota";

/// How the provider of a running route fails, for people; empty: it works. Cleaned here. A route in
/// another state keeps the reason of that.
result<done> note_trouble(session&, route_id, std::string_view text);

/// The route claims nothing for `wait`, then goes on by itself. People see `reason`, such as
/// `provider unreachable: connection refused`; it is cleaned here. A longer wait stays, with its
/// reason; a stopped or paused route stays so.
result<done> wait_route(session&, route_id, std::string_view reason, nanoseconds wait);

/// A daily-quota refusal by the provider: the route waits for `wait`.
result<done> wait_for_daily_quota(session&, route_id, nanoseconds wait);

/// The provider refuses to send for this account: stopped with a reason, until an operator resumes
/// it (storage/operations.hpp); messages stay queued.
result<done> stop_route(session&, route_id, std::string_view reason);

result<route_reading> read_route(session&, route_id);
/// Those of the routes that exist, by one statement.
result<std::vector<route_reading>> read_routes(session&, const std::vector<route_id>&);
/// What the cache holds, with its age; nothing if it never was filled.
struct cached_quota {
  quota_reading quota;
  nanoseconds age{0};
};
result<std::optional<cached_quota>> read_quota(session&, route_id);

} // namespace paceline
