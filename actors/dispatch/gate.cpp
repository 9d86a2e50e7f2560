#include "actors/dispatch/gate.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace paceline {
namespace {

__extension__ using wide = __int128;

/// Nanoseconds in a second times thousandths in a unit: slot s of a target of m thousandths lies
/// s * slot_scale / m nanoseconds after the grid's start.
constexpr wide slot_scale = 1'000'000'000'000;

constexpr wide as_wide(database_instant when) {
  return when.time_since_epoch().count();
}

/// How far ahead a claim may store a shard's gate: drawing begins `slot_horizon` after it at the
/// latest, its group covers at most 250 ms from at most 75 ms on, and its last message, to at most
/// 50, owes 50 own slots after at most 49 up to its turn; one more for the way to the first of
/// them.
constexpr nanoseconds furthest_draw = slot_horizon + std::chrono::seconds{1};
constexpr std::int64_t widest = 50;
constexpr std::int64_t most_owed = widest + 2 * (widest - 1) + 1;

database_instant instant_from(wide ns) {
  constexpr wide limit = std::numeric_limits<std::int64_t>::max();
  return database_instant{nanoseconds{static_cast<std::int64_t>(std::min(ns, limit))}};
}

/// Slots lie at whole nanoseconds, rounded down: that keeps "how many lie in a stretch of whole
/// nanoseconds" exactly what the unrounded grid says.
database_instant slot_instant(const grid& g, wide s) {
  return instant_from(as_wide(g.start) + s * slot_scale / g.target.millihertz());
}

/// The first slot of the grid, anybody's, at or after `when`; at least 1.
wide first_number(const grid& g, database_instant when) {
  const wide since = as_wide(when) - as_wide(g.start);
  if (since <= 0)
    return 1;
  return std::max<wide>(1, (since * g.target.millihertz() + slot_scale - 1) / slot_scale);
}

/// The first of the shard's own slots at or after `when`.
wide first_own(const grid& g, shard_position position, database_instant when) {
  const wide s = first_number(g, when);
  const wide ahead = (position.index - s % position.count + position.count) % position.count;
  return s + ahead;
}

/// How many own slots lie in [from, to).
wide own_between(const grid& g, shard_position position, database_instant from,
                 database_instant to) {
  if (g.target.is_zero() || to <= from)
    return 0;
  const wide low = first_own(g, position, from);
  const wide high = first_own(g, position, to);
  return (high - low) / position.count;
}

/// Whether `g` has slots at all.
bool runs(const grid& g) {
  return g.number != 0 && !g.target.is_zero();
}

/// Carries what is owed from the grid the last slot was of into `to`, slot for slot.
void carry(gate_state& state, const grid& to, shard_position position) {
  if (!state.of || state.last_used < to.start || !runs(to))
    return;
  const wide owed =
      own_between(*state.of, position, to.start, instant_from(as_wide(state.last_used) + 1));
  if (owed > 0) {
    const wide first = first_own(to, position, to.start);
    state.last_used = slot_instant(to, first + (owed - 1) * position.count);
  }
  state.of = to;
}

/// The state with debts carried into the grids now known.
gate_state settled(gate_state state, const route_pace& pace, shard_position position) {
  if (!state.of)
    return state;
  if (state.of->number < pace.current.number)
    carry(state, pace.current, position);
  if (pace.next && state.of->number < pace.next->number)
    carry(state, *pace.next, position);
  return state;
}

/// An own slot by its number and grid.
struct place {
  const grid* of = nullptr;
  wide number = 0;
};

/// The first own slot at or after `from`, in whichever grid is in force there.
std::optional<place> locate(const route_pace& pace, shard_position position,
                            database_instant from) {
  if (runs(pace.current)) {
    const wide s = first_own(pace.current, position, from);
    if (!pace.next || slot_instant(pace.current, s) < pace.next->start)
      return place{&pace.current, s};
  }
  if (pace.next && runs(*pace.next))
    return place{&*pace.next, first_own(*pace.next, position, from)};
  return std::nullopt;
}

database_instant earliest(const gate_state& state, database_instant now) {
  if (state.last_used < now)
    return now;
  return instant_from(as_wide(state.last_used) + 1);
}

/// The state after `cost` own slots from `first` on were used up, crossing into the next grid if it
/// begins before they end.
gate_state used_up(const route_pace& pace, shard_position position, const place& first,
                   std::int64_t cost) {
  const wide last = first.number + wide{cost - 1} * position.count;
  gate_state state{slot_instant(*first.of, last), *first.of};
  if (pace.next && first.of == &pace.current)
    carry(state, *pace.next, position);
  return state;
}

/// The inverse of `a` modulo `m`; they have no common divisor.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  std::int64_t rest = a % m, other = m, factor = 1, other_factor = 0;
  while (other != 0) {
    const std::int64_t times = rest / other;
    rest = std::exchange(other, rest - times * other);
    factor = std::exchange(other_factor, factor - times * other_factor);
  }
  return (factor % m + m) % m;
}

/// At which of every `cost` own slots the shard's turn for messages of that cost is, counted from
/// 0. The turns of all shards lie at multiples of `cost` on the grid, one shard at each: at the
/// multiple if it is a slot of the shard's, else at the shard's last slot before. (With g the
/// greatest common divisor of both, the first count / g multiples are slots of as many shards, and
/// the multiples after them slots of the same ones again. So each round but the first goes to the
/// shards one slot earlier.)
std::int64_t turn_of(shard_position position, std::int32_t cost) {
  const std::int64_t common = std::gcd(position.count, cost);
  const std::int64_t in_round = position.count / common;
  const std::int64_t round = (common - position.index % common) % common;
  const std::int64_t step =
      (position.index + round) / common * inverse(cost / common, in_round) % in_round;
  const std::int64_t multiple = (round * in_round + step) * cost;
  return (multiple - position.index) / position.count;
}

/// Whether turns keep shards apart that send such messages: those of one size do.
bool has_turns(const gate_state& state, shard_position position, std::int32_t cost) {
  return cost > 1 && position.count > 1 && (state.last_cost == 0 || state.last_cost == cost);
}

/// Whether the slot comes right after the last one used up, by a message of the same grid.
bool follows(const gate_state& state, shard_position position, const place& where) {
  return state.started_in == where.of->number
         && state.last_used >= slot_instant(*where.of, where.number - position.count);
}

/// Where a message of `cost` starts whose first free slot is `free`: there, or at the shard's turn.
/// Nothing if the route falls silent before.
std::optional<place> in_turn(const gate_state& state, const route_pace& pace,
                             shard_position position, const place& free, std::int32_t cost) {
  if (!has_turns(state, position, cost) || follows(state, position, free))
    return free;
  const auto wait = [position, cost](const place& from) {
    const wide own = from.number / position.count;
    return (turn_of(position, cost) + cost - own % cost) % cost * position.count;
  };
  const place turn{free.of, free.number + wait(free)};
  const bool is_over = free.of == &pace.current && pace.next
                       && slot_instant(pace.current, turn.number) >= pace.next->start;
  if (!is_over)
    return turn;
  if (!runs(*pace.next))
    return std::nullopt;
  const place later{&*pace.next, first_own(*pace.next, position, pace.next->start)};
  return place{later.of, later.number + wait(later)};
}

slot slot_at(const route_pace& pace, const place& where) {
  const grid& g = *where.of;
  slot s{slot_instant(g, where.number), {}, g.number};
  s.latest = s.at + lateness(g.target);
  if (pace.next && &g == &pace.current)
    s.latest = std::min(s.latest, pace.next->start - nanoseconds{1});
  return s;
}

} // namespace

nanoseconds lateness(rate target) {
  constexpr nanoseconds base = std::chrono::milliseconds{5};
  constexpr nanoseconds longest = std::chrono::milliseconds{50};
  return base + (target.is_zero() ? longest : std::min(target.period(), longest));
}

draw foresee(const gate_state& state, const route_pace& pace, shard_position position,
             database_instant now, std::int32_t cost) {
  assert(cost >= 1 && position.count >= 1 && position.index >= 0
         && position.index < position.count);
  const gate_state before = settled(state, pace, position);
  const auto free = locate(pace, position, earliest(before, now));
  if (!free)
    return {state, std::nullopt};
  const auto where = in_turn(before, pace, position, *free, cost);
  if (!where)
    return {state, std::nullopt};
  draw drawn{used_up(pace, position, *where, cost), slot_at(pace, *where)};
  drawn.state.started_in = where->of->number;
  drawn.state.last_cost = cost;
  return drawn;
}

draw take(const gate_state& state, const route_pace& pace, shard_position position,
          database_instant now, std::int32_t cost) {
  draw drawn = foresee(state, pace, position, now, cost);
  if (drawn.taken && drawn.taken->at > pace.read_at + slot_horizon)
    return {state, std::nullopt};
  return drawn;
}

std::optional<slot> first_slot(const gate_state& state, const route_pace& pace,
                               shard_position position, database_instant now) {
  return take(state, pace, position, now, 1).taken;
}

std::vector<slot> take_group(gate_state& state, const route_pace& pace, shard_position position,
                             database_instant now, std::span<const std::int32_t> costs) {
  std::vector<slot> slots;
  slots.reserve(costs.size());
  for (const std::int32_t cost : costs) {
    const draw drawn = take(state, pace, position, now, cost);
    if (!drawn.taken)
      break;
    state = drawn.state;
    slots.push_back(*drawn.taken);
  }
  return slots;
}

std::int64_t slots_within(const gate_state& state, const route_pace& pace, shard_position position,
                          database_instant now, nanoseconds window, std::int64_t limit) {
  const database_instant from = earliest(settled(state, pace, position), now);
  const database_instant to = instant_from(as_wide(now) + window.count() + 1);
  wide found = 0;
  if (runs(pace.current))
    found +=
        own_between(pace.current, position, from, pace.next ? std::min(to, pace.next->start) : to);
  if (pace.next && runs(*pace.next))
    found += own_between(*pace.next, position, std::max(from, pace.next->start), to);
  return static_cast<std::int64_t>(std::min<wide>(found, limit));
}

database_instant upper_bound(const gate_state& state, const route_pace& pace,
                             shard_position position, database_instant by,
                             std::int64_t total_cost) {
  const gate_state before = settled(state, pace, position);
  const auto where = locate(pace, position, earliest(before, by));
  if (!where || total_cost <= 0)
    return std::max(before.last_used, by);
  // Up to the first message's turn, and up to one in the grid that the group may cross into.
  const std::int64_t turns = position.count == 1 ? 0 : pace.next ? 2 : 1;
  const std::int64_t wait = turns * (std::min(total_cost, widest) - 1);
  return used_up(pace, position, *where, total_cost + wait).last_used;
}

gate_state shifted(const gate_state& state, nanoseconds by) {
  if (state.last_used == database_instant::min())
    return state;
  return {state.last_used + by, std::nullopt};
}

gate_state taken_over(database_instant last_slot, const route_pace& pace, shard_position position,
                      database_instant now) {
  nanoseconds period{0};
  for (const grid* g : {&pace.current, pace.next ? &*pace.next : nullptr})
    if (g && runs(*g))
      period = std::max(period, g->target.period());
  if (period == nanoseconds{0})
    return {last_slot, std::nullopt};
  const wide furthest =
      as_wide(now) + furthest_draw.count() + wide{period.count() + 1} * position.count * most_owed;
  return {std::min(last_slot, instant_from(furthest)), std::nullopt};
}

const grid& grid_at(const route_pace& pace, database_instant now) {
  return pace.next && pace.next->start <= now ? *pace.next : pace.current;
}

rate share_of(rate target, shard_position position) {
  return rate::from_millihertz((target.millihertz() + position.count - 1) / position.count);
}

} // namespace paceline
