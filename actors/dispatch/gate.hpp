/// The gate: which instants a shard may start sends at.
///
/// A route has one grid of slots; slot s lies at `start + s / target` (s >= 1) and belongs to shard
/// `s mod count`. A send takes the shard's first own slot that is neither before now nor at or
/// before the last one used, so no credit accumulates and nothing can burst: not after a stall, not
/// after a crash, not when another node takes over. A message to n recipients starts at the first
/// of n own slots and uses all n up.
///
/// Where a route has several shards, their wide messages must not all start together: n recipients
/// each within a few slots is more than a provider takes at once. So of every n own slots one is
/// the shard's turn for messages to n, and the turns of all shards lie n slots of the grid apart
/// (n - 1 where n and the count of shards have a common divisor). A wide message that comes right
/// after the one before it starts at once; after slots that passed unused, in a new grid and with
/// a new owner it waits for the turn, which costs less than n own slots once. Messages of one size
/// then stay in turn by what they use up. Those of different sizes drift out of it whatever is
/// done, so after another size nothing waits (`docs/decisions/0013-turns-for-wide-messages.md`).
///
/// A new target comes as a second grid with the instant at which it begins. No slot of the old grid
/// is used at or after that instant, and none later than `slot_horizon` after the route was last
/// read; since a new grid is announced further ahead than that (`target_change.hpp`), a shard that
/// has not heard of it has stopped by then.
///
/// Everything here is a pure function of its arguments: no clock, no I/O, integer nanoseconds,
/// exact for any target up to 1,000,000/s. Values, free to use on any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/model/instants.hpp"
#include "storage/model/rate.hpp"

namespace paceline {

/// No shard uses a slot later than this after it last read the route.
inline constexpr nanoseconds slot_horizon = std::chrono::seconds{1};

/// Shard `index` of `count`: 0 <= index < count.
struct shard_position {
  std::int32_t index = 0;
  std::int32_t count = 1;
  friend bool operator==(const shard_position&, const shard_position&) = default;
};

/// What was last read of a route. Every claim reads it again.
struct route_pace {
  grid current;             ///< may begin in the future (a brake): then nothing starts until then
  std::optional<grid> next; ///< the announced one; takes over at its start
  /// When the route was read, at the latest: an instant not after the statement's own snapshot
  /// (the database's `clock_timestamp()` of that statement, or `now` before it was sent).
  database_instant read_at{};
  /// For display and for `target_at`; the gate itself needs only the grids.
  database_instant brake_until = database_instant::min();
};

/// What a shard remembers of its slots; the database holds `last_used` alone (as an upper bound).
struct gate_state {
  /// The last own slot used up. Slots at or before it are gone. `min()`: none ever.
  database_instant last_used = database_instant::min();
  /// The grid that slot was of. Empty after a takeover; then the instant alone counts. With it, the
  /// slots that a many-recipient message still owes are carried into a new grid one for one.
  std::optional<grid> of;
  /// The grid in which the last message started, and that message's recipients; 0: none by this
  /// owner. They say whether the next one has to wait for the shard's turn.
  std::int64_t started_in = 0;
  std::int32_t last_cost = 0;
};

/// When a send may start.
struct slot {
  database_instant at{};
  /// After this the slot is lost and the message comes back `not_started`. At most `lateness`
  /// after `at`, and always before the next grid begins.
  database_instant latest{};
  std::int64_t grid_number = 0;
  friend bool operator==(const slot&, const slot&) = default;
};

/// A new state and the slot taken, if there was one; without a slot the state is unchanged.
struct draw {
  gate_state state;
  std::optional<slot> taken;
};

/// J: how late a send may start, 5 ms + min(1 / target, 50 ms).
nanoseconds lateness(rate target);

/// The shard's next free slot at or after `now`. Nothing if the target is zero or the slot lies
/// beyond the horizon: then the route must be read (a claim does) before anything starts.
std::optional<slot> first_slot(const gate_state& state, const route_pace& pace,
                               shard_position position, database_instant now);

/// Takes the next slot for a message of `cost` recipients (>= 1), at the shard's turn if need be;
/// uses up `cost` own slots from there on.
/// Only the first of them has to lie within the horizon.
draw take(const gate_state& state, const route_pace& pace, shard_position position,
          database_instant now, std::int32_t cost);

/// Slots for a whole claimed group, in order. Fewer than `costs` if the horizon ends first: the
/// remaining messages go back as `not_started`. Updates `state`.
std::vector<slot> take_group(gate_state& state, const route_pace& pace, shard_position position,
                             database_instant now, std::span<const std::int32_t> costs);

/// Like `take` but blind to the horizon: for planning a claim, whose answer will bring a fresh
/// reading of the route. Never start anything by it.
draw foresee(const gate_state& state, const route_pace& pace, shard_position position,
             database_instant now, std::int32_t cost);

/// How many free own slots lie in [now, now + window], at most `limit`. Blind to the horizon, like
/// `foresee`. Constant time.
std::int64_t slots_within(const gate_state& state, const route_pace& pace, shard_position position,
                          database_instant now, nanoseconds window, std::int64_t limit);

/// What a claim stores as the shard's gate before its slots are drawn: the last slot that a group
/// of `total_cost` recipients could use up if drawing began as late as `by` (the claim's answer;
/// now + `slot_horizon` is right). Whoever takes over starts after it.
database_instant upper_bound(const gate_state& state, const route_pace& pace,
                             shard_position position, database_instant by, std::int64_t total_cost);

/// The state after the database's clock was found to have stepped by `by` (`clock_estimate.hpp`):
/// the same moment in the new reckoning.
gate_state shifted(const gate_state& state, nanoseconds by);

/// The state that a new owner begins with. `last_slot` is the stored gate, and a stored gate
/// outlives a clock that was set forward and back again: one further ahead than any claim could
/// have stored it is brought down to that, or the shard would rest until the clock gets there once
/// more.
gate_state taken_over(database_instant last_slot, const route_pace& pace, shard_position position,
                      database_instant now);

/// The grid in force at `now`: `next` once it has begun.
const grid& grid_at(const route_pace& pace, database_instant now);

/// The shard's part of a target, rounded up to the thousandth: for sizing, not for pacing.
rate share_of(rate target, shard_position position);

} // namespace paceline
