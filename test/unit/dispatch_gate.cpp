#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "actors/dispatch/gate.hpp"
#include "actors/dispatch/target_change.hpp"

using namespace paceline;
using namespace std::chrono_literals;

namespace {

constexpr database_instant origin{nanoseconds{1'790'000'000'000'000'000}};

route_pace pace_of(std::int64_t millihertz, database_instant read_at = origin) {
  return {{1, origin, rate::from_millihertz(millihertz)}, std::nullopt, read_at, {}};
}

/// Starts as many sends as possible from `from` to `to`, with a fresh reading for each.
std::vector<database_instant> all_starts(route_pace pace, shard_position position,
                                         database_instant from, database_instant to,
                                         std::int32_t recipients) {
  std::vector<database_instant> starts;
  gate_state gate;
  database_instant now = from;
  while (static_cast<std::int32_t>(starts.size()) < recipients) {
    const auto planned = foresee(gate, pace, position, now, 1);
    if (!planned.taken || planned.taken->at > to)
      break;
    now = planned.taken->at;
    pace.read_at = now;
    const draw drawn = take(gate, pace, position, now, 1);
    BOOST_REQUIRE(drawn.taken);
    gate = drawn.state;
    starts.push_back(drawn.taken->at);
  }
  return starts;
}

} // namespace

BOOST_AUTO_TEST_SUITE(dispatch_gate)

BOOST_AUTO_TEST_CASE(shards_share_one_grid_without_overlap_or_gap) {
  std::vector<database_instant> all;
  for (std::int32_t i = 0; i < 7; ++i)
    for (const auto at : all_starts(pace_of(333'333), {i, 7}, origin, origin + 10s, 10'000))
      all.push_back(at);
  std::ranges::sort(all);
  BOOST_REQUIRE_EQUAL(all.size(), 3'333u);
  for (std::size_t s = 1; s <= all.size(); ++s)
    BOOST_REQUIRE_EQUAL((all[s - 1] - origin).count(),
                        static_cast<std::int64_t>(s) * 1'000'000'000'000 / 333'333);
}

BOOST_AUTO_TEST_CASE(a_missed_slot_is_lost) {
  const route_pace pace = pace_of(10'000, origin + 5s);
  const auto late = take({}, pace, {0, 1}, origin + 5'010ms, 1);
  BOOST_REQUIRE(late.taken);
  BOOST_CHECK(late.taken->at == origin + 5'100ms);
  const auto next = take(late.state, pace, {0, 1}, origin + 5'010ms, 1);
  BOOST_CHECK(next.taken->at == origin + 5'200ms);
}

BOOST_AUTO_TEST_CASE(a_message_to_many_uses_as_many_own_slots) {
  const route_pace pace = pace_of(10'000);
  const auto wide = take({}, pace, {1, 2}, origin, 3); // own slots: 1, 3 (its turn), 5, 7, 9
  BOOST_CHECK(wide.taken->at == origin + 300ms);
  BOOST_CHECK(wide.state.last_used == origin + 700ms);
  BOOST_CHECK(take(wide.state, pace, {1, 2}, origin, 1).taken->at == origin + 900ms);
}

BOOST_AUTO_TEST_CASE(the_turns_of_all_shards_lie_a_messages_slots_apart) {
  const route_pace pace = pace_of(1'000'000); // slots 1 ms apart
  for (const std::int32_t count : {2, 3, 4, 7, 8, 16, 36, 200}) {
    for (std::int32_t cost = 2; cost <= 50; ++cost) {
      std::vector<std::int64_t> turns;
      for (std::int32_t i = 0; i < count; ++i) {
        const auto from = origin + i * 3us; // wherever a shard begins
        const auto first = foresee({}, pace, {i, count}, from, cost).taken->at - origin;
        turns.push_back(first / 1ms % (count * cost));
      }
      std::ranges::sort(turns);
      turns.push_back(turns.front() + count * cost);
      const std::int64_t least = std::gcd(count, cost) == 1 ? cost : cost - 1;
      for (std::size_t i = 1; i < turns.size(); ++i)
        BOOST_REQUIRE_MESSAGE(turns[i] - turns[i - 1] >= least,
                              count << " shards, " << cost << " recipients");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wide_message_waits_for_its_turn_only_where_slots_passed_unused) {
  const route_pace pace = pace_of(10'000, origin + 1s);
  const shard_position position{1, 2};
  const auto first = take({}, pace, position, origin, 3); // 300 ms, to 700
  BOOST_CHECK(take(first.state, pace, position, origin + 900ms, 3).taken->at == origin + 900ms);
  // A millisecond late: the slot at 900 ms is lost, and the turns lie 600 ms apart.
  BOOST_CHECK(take(first.state, pace, position, origin + 901ms, 3).taken->at == origin + 1'500ms);
  // Another size has no turns to be kept; a new owner doesn't know what was sent.
  BOOST_CHECK(take(first.state, pace, position, origin + 901ms, 5).taken->at == origin + 1'100ms);
  const gate_state taken{first.state.last_used, std::nullopt};
  BOOST_CHECK(take(taken, pace, position, origin + 900ms, 3).taken->at == origin + 900ms);
  BOOST_CHECK(take(taken, pace, position, origin + 901ms, 3).taken->at == origin + 1'500ms);
  // One recipient, or one shard, waits for nobody.
  BOOST_CHECK(take(first.state, pace, position, origin + 901ms, 1).taken->at == origin + 1'100ms);
  BOOST_CHECK(take({}, pace, {0, 1}, origin + 901ms, 3).taken->at == origin + 1s);
}

BOOST_AUTO_TEST_CASE(turns_are_found_anew_in_a_new_grid) {
  route_pace pace = pace_of(10'000, origin + 1s);
  const shard_position position{1, 2};
  const auto first = take({}, pace, position, origin, 3); // 300 ms, to 700
  pace.next = grid{2, origin + 400ms, rate::from_millihertz(10'000)};
  // Owes two slots, the new grid's at 100 and 300 ms; its turns are at 300 ms, 900 ms, ...
  const auto next = take(first.state, pace, position, origin, 3);
  BOOST_CHECK(next.taken->at == origin + 400ms + 900ms);
  BOOST_CHECK_EQUAL(next.taken->grid_number, 2);
  const auto small = take(first.state, pace, position, origin, 1);
  BOOST_CHECK(small.taken->at == origin + 400ms + 500ms);
  // A turn that the present grid does not reach is the new grid's first one.
  pace.next->start = origin + 1'400ms;
  const auto over = take(first.state, pace, position, origin + 901ms, 3);
  BOOST_CHECK(over.taken->at == origin + 1'400ms + 300ms);
  pace.next->target = {};
  BOOST_CHECK(!take(first.state, pace, position, origin + 901ms, 3).taken);
}

BOOST_AUTO_TEST_CASE(the_stored_gate_covers_whatever_a_claim_draws) {
  std::mt19937_64 random(20240801);
  BOOST_TEST_MESSAGE("seed 20240801");
  const auto within = [&random](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  int drawn = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto count = static_cast<std::int32_t>(within(1, 9));
    const shard_position position{static_cast<std::int32_t>(within(0, count - 1)), count};
    route_pace pace = pace_of(within(1'000, 500'000));
    const auto size = static_cast<std::int32_t>(within(1, 50));
    gate_state gate = foresee({}, pace, position, origin + within(0, 4'000) * 1ms, size).state;
    const auto now = origin + within(0, 5'000) * 1ms;
    if (within(0, 1) == 0)
      pace.next =
          grid{2, now + within(-300, 1'250) * 1ms, rate::from_millihertz(within(500, 90'000))};
    std::vector<std::int32_t> costs;
    std::int64_t total = 0;
    for (std::int64_t n = within(1, 4); n > 0; --n)
      costs.push_back(within(0, 2) == 0 ? static_cast<std::int32_t>(within(1, 50)) : size);
    for (const std::int32_t cost : costs)
      total += cost;
    const auto stored = upper_bound(gate, pace, position, now + slot_horizon, total);
    pace.read_at = now + within(0, 1'000) * 1ms; // the claim's answer
    const auto slots = take_group(gate, pace, position, pace.read_at, costs);
    drawn += static_cast<int>(slots.size());
    if (!slots.empty())
      BOOST_REQUIRE(gate.last_used <= stored);
  }
  BOOST_CHECK_GT(drawn, 10'000);
}

BOOST_AUTO_TEST_CASE(no_slot_lies_beyond_the_horizon_or_in_the_old_grid_after_the_new_begins) {
  route_pace pace = pace_of(1'000);
  BOOST_CHECK(first_slot({}, pace, {0, 1}, origin).has_value());
  BOOST_CHECK(!first_slot({}, pace, {0, 1}, origin + 1'001ms).has_value());
  BOOST_CHECK(foresee({}, pace, {0, 1}, origin + 1'001ms, 1).taken.has_value());
  pace.next = grid{2, origin + 2'020ms, rate::from_millihertz(10'000)};
  pace.read_at = origin + 1'500ms;
  const auto last_old = first_slot({}, pace, {0, 1}, origin + 1'500ms);
  BOOST_CHECK(last_old->at == origin + 2s);
  BOOST_CHECK(last_old->latest == pace.next->start - 1ns);
  const auto first_new = first_slot({}, pace, {0, 1}, origin + 2'001ms);
  BOOST_CHECK(first_new->at == origin + 2'120ms);
  BOOST_CHECK_EQUAL(first_new->grid_number, 2);
}

BOOST_AUTO_TEST_CASE(what_a_wide_message_owes_is_carried_into_a_new_grid_slot_for_slot) {
  route_pace pace = pace_of(1'000);
  const auto wide = take({}, pace, {0, 1}, origin + 900ms, 50); // slots 1 to 50 s
  pace.next = grid{2, origin + 10'500ms, rate::from_millihertz(5'000'000)};
  pace.read_at = origin + 10s;
  // 40 slots of the old grid lie after the change; 40 of the new one are 8 ms.
  const auto next = first_slot(wide.state, pace, {0, 1}, origin + 10s);
  BOOST_REQUIRE(next);
  BOOST_CHECK(next->at == pace.next->start + 8'200us);
  // The same once the new grid is the current one, and with an announced grid from the start.
  route_pace later{*pace.next, std::nullopt, origin + 10'600ms, {}};
  BOOST_CHECK(first_slot(wide.state, later, {0, 1}, origin + 10s)->at == next->at);
  pace.read_at = origin;
  const auto known = take({}, pace, {0, 1}, origin + 900ms, 50);
  BOOST_CHECK(known.state.last_used == pace.next->start + 8ms);
}

BOOST_AUTO_TEST_CASE(lateness_is_five_milliseconds_and_one_period_up_to_fifty) {
  BOOST_CHECK(lateness(rate::from_millihertz(20)) == 55ms);
  BOOST_CHECK(lateness(rate::from_millihertz(100'000)) == 15ms);
  BOOST_CHECK(lateness(rate::from_millihertz(5'000'000)) == 5'200us);
}

BOOST_AUTO_TEST_CASE(slots_are_exact_and_counted_right_at_any_rate) {
  std::mt19937_64 random(20240801);
  BOOST_TEST_MESSAGE("seed 20240801");
  for (int round = 0; round < 20'000; ++round) {
    const auto millihertz = static_cast<std::int64_t>(
        1 + random() % (random() % 2 == 0 ? 1'000'000'000ull : 100'000ull));
    const shard_position position{0, static_cast<std::int32_t>(1 + random() % 200)};
    const auto now = origin + nanoseconds{static_cast<std::int64_t>(random() % (1ull << 58))};
    const route_pace pace = pace_of(millihertz, now);
    const draw first = foresee({}, pace, position, now, 1);
    BOOST_REQUIRE(first.taken);
    const nanoseconds own{1'000'000'000'000 / millihertz * position.count};
    BOOST_REQUIRE(first.taken->at >= now);
    BOOST_REQUIRE(first.taken->at - now <= own + nanoseconds{position.count + 1});
    const draw second = foresee(first.state, pace, position, now, 1);
    BOOST_REQUIRE(second.taken->at - first.taken->at >= own);
    const nanoseconds window = 3 * own;
    std::int64_t counted = 0;
    draw step = first;
    for (; step.taken->at <= now + window; ++counted)
      step = foresee(step.state, pace, position, now, 1);
    BOOST_REQUIRE_EQUAL(slots_within({}, pace, position, now, window, 1'000), counted);
    // Two messages, or one to two: that one may have waited for its turn, a slot away at most.
    const draw third = foresee(second.state, pace, position, now, 1);
    const draw& last = position.count == 1 ? second : third;
    BOOST_REQUIRE(upper_bound({}, pace, position, now, 2) == last.taken->at);
  }
}

BOOST_AUTO_TEST_CASE(a_silent_route_gives_no_slot) {
  BOOST_CHECK(!first_slot({}, {}, {0, 1}, origin));
  BOOST_CHECK(!first_slot({}, pace_of(0), {0, 1}, origin));
  route_pace waking = pace_of(0);
  waking.next = grid{2, origin + 1s, rate::from_millihertz(10'000)};
  waking.read_at = origin + 900ms;
  BOOST_CHECK(first_slot({}, waking, {0, 1}, origin)->at == origin + 1'100ms);
}

// Case P1: one per two minutes, ten recipients; then N per window with N and N + 1 recipients.
BOOST_AUTO_TEST_CASE(a_limit_per_window_holds_in_every_window_not_only_aligned_ones) {
  for (const std::int32_t limit : {1, 2, 7, 30}) {
    for (const std::int32_t recipients : {10, limit, limit + 1}) {
      const nanoseconds window = 120s;
      const rate target = rate::per_second(limit / 120.0);
      for (const nanoseconds first_look :
           {nanoseconds{0}, nanoseconds{1}, nanoseconds{59s}, nanoseconds{119'999'999'999}}) {
        const auto starts = all_starts(pace_of(target.millihertz()), {0, 1}, origin + first_look,
                                       origin + 24h, recipients);
        BOOST_REQUIRE_EQUAL(starts.size(), static_cast<std::size_t>(recipients));
        for (std::size_t i = 0; i + static_cast<std::size_t>(limit) < starts.size(); ++i) {
          // The first of the window may start as late as J, the one after it punctually.
          const auto earliest_excess = starts[i + static_cast<std::size_t>(limit)];
          BOOST_CHECK(earliest_excess - starts[i] >= window);
        }
      }
    }
  }
}

// Case R3, the pacing half: 30 an hour, killed after 30 sends; the restart neither bursts nor waits
// longer than one period.
BOOST_AUTO_TEST_CASE(a_restart_after_the_limit_goes_on_at_the_next_slot) {
  const rate target = rate::per_second(30 / 3600.0);
  const auto before = all_starts(pace_of(target.millihertz()), {0, 1}, origin, origin + 48h, 30);
  const database_instant restart = before.back() + 1ms;
  for (const bool from_stored : {true, false}) {
    const gate_state gate{from_stored ? before.back() : database_instant::min(), std::nullopt};
    const auto next = foresee(gate, pace_of(target.millihertz()), {0, 1}, restart, 1);
    BOOST_CHECK(next.taken->at - before.back() >= 120s);
    BOOST_CHECK(next.taken->at - before.back() <= target.period() + 1ns);
  }
}

BOOST_AUTO_TEST_CASE(a_stepped_clock_shifts_the_gate_with_it) {
  const gate_state used{origin + 5s, grid{1, origin, rate::from_millihertz(1000)}};
  BOOST_CHECK(shifted(used, -1h).last_used == origin + 5s - 1h);
  BOOST_CHECK(!shifted(used, -1h).of);
  BOOST_CHECK(shifted({}, -1h).last_used == database_instant::min());
}

BOOST_AUTO_TEST_CASE(a_stored_gate_from_a_clock_that_was_set_back_does_not_hold_up_its_new_owner) {
  const route_pace pace = pace_of(100'000);
  const shard_position position{1, 4};
  const auto gate = taken_over(origin + 1h, pace, position, origin);
  BOOST_REQUIRE(foresee(gate, pace, position, origin, 1).taken);
  BOOST_CHECK(foresee(gate, pace, position, origin, 1).taken->at <= origin + 9s);
  // The slower of two grids counts, and a silent route says nothing about how far is too far.
  route_pace slowing = pace;
  slowing.next = grid{2, origin + 1s, rate::from_millihertz(20)};
  BOOST_CHECK(taken_over(origin + 1h, slowing, position, origin).last_used == origin + 1h);
  BOOST_CHECK(taken_over(origin + 1h, {}, position, origin).last_used == origin + 1h);
}

BOOST_AUTO_TEST_CASE(a_new_owner_keeps_every_gate_that_a_claim_can_have_stored) {
  for (const std::int64_t millihertz : {20, 1'000, 14'000, 5'000'000}) {
    const route_pace pace = pace_of(millihertz);
    for (const shard_position position : {shard_position{0, 1}, {3, 4}, {199, 200}}) {
      const auto fitting = slots_within({}, pace, position, origin + slot_horizon, 325ms, 99);
      const auto stored = upper_bound({}, pace, position, origin + slot_horizon, fitting + 50);
      BOOST_CHECK(taken_over(stored, pace, position, origin).last_used == stored);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_new_target_is_announced_and_a_brake_silences_the_route_until_it_begins) {
  const route_pace fresh = with_fresh_grid({}, rate::from_millihertz(22'000), origin);
  BOOST_CHECK(fresh.current.start == origin + grid_lead);
  BOOST_CHECK_EQUAL(fresh.current.number, 1);
  const database_instant now = origin + 60s;
  const route_pace changed = with_target(fresh, rate::from_millihertz(11'000), now);
  BOOST_CHECK(changed.current == fresh.current);
  BOOST_CHECK(changed.next->start == now + grid_lead);
  const route_pace again = with_target(changed, rate::from_millihertz(5'000), now + 1s);
  BOOST_CHECK(again.current == *changed.next);
  BOOST_CHECK(again.next->start == now + 1s + grid_lead);
  route_pace braked = with_brake(again, rate::from_millihertz(2'500), now + 2s, default_brake);
  braked.read_at = now + 3s;
  BOOST_CHECK(!braked.next);
  BOOST_CHECK(braked.brake_until == now + 12s);
  BOOST_CHECK(first_slot({}, braked, {0, 1}, now + 2s)->at == now + 2s + grid_lead + 400ms);
}

BOOST_AUTO_TEST_CASE(a_brake_halves_what_was_seen_until_the_quota_answers) {
  const rate seen = rate::from_millihertz(22'000);
  const rate quota = rate::from_millihertz(20'000);
  BOOST_CHECK(braked_target(seen, std::nullopt) == rate::from_millihertz(11'000));
  BOOST_CHECK(braked_target(rate::from_millihertz(1), std::nullopt) == rate::from_millihertz(1));
  BOOST_CHECK(target_at(origin, origin + 1ns, seen, quota, seen) == quota);
  BOOST_CHECK(target_at(origin, origin, seen, quota, seen) == seen);
}

BOOST_AUTO_TEST_SUITE_END()
