/// How a route's target changes: by a new grid that begins a little later, so that every shard has
/// heard of it or has stopped (`gate.hpp`) when it does.
///
/// Pure functions; the caller stores the result in the route's row under its lock.
#pragma once

#include <optional>

#include "actors/dispatch/gate.hpp"

namespace paceline {

/// A new grid begins this long after it is written. Longer than `slot_horizon` (1 s) plus the
/// longest permitted lateness (55 ms) plus clock errors (3 ms each way), with 0.19 s to spare.
inline constexpr nanoseconds grid_lead = std::chrono::milliseconds{1250};

/// How long a brake holds the target at the raw quota.
inline constexpr nanoseconds default_brake = std::chrono::seconds{10};

/// Announces `target` from `now + grid_lead` on. Until then the grid in force goes on; when a grid
/// was already announced but has not begun, that one becomes `current` and the route is silent
/// until its start (it can't be taken back: somebody may have read it).
/// `read_at` and `brake_until` are kept.
route_pace with_target(const route_pace& pace, rate target, database_instant now);

/// The first grid of a route that has none, or after a step of the database's clock: nothing starts
/// until `now + grid_lead`. Also what a brake writes, together with `brake_until`.
route_pace with_fresh_grid(const route_pace& pace, rate target, database_instant now);

/// A rate refusal: silence until `now + grid_lead`, then `target` (see `braked_target`), and
/// `brake_until = now + brake`.
route_pace with_brake(const route_pace& pace, rate target, database_instant now, nanoseconds brake);

/// The target right after a rate refusal: half of the rate seen until the quota has been read
/// again (at least 0.001/s), then the raw quota (without the rate factor).
rate braked_target(rate seen, std::optional<rate> raw_quota);

/// The target at `now`: `braked_target` until `brake_until`, then `full` (quota x factor, or the
/// configured rate). When the answer differs from the grid's, `with_target` announces it.
rate target_at(database_instant now, database_instant brake_until, rate seen,
               std::optional<rate> raw_quota, rate full);

} // namespace paceline
