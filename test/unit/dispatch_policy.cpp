#include <algorithm>
#include <map>
#include <random>
#include <variant>

#include <boost/test/unit_test.hpp>

#include "actors/dispatch/shard_policy.hpp"

using namespace paceline;
using namespace std::chrono_literals;

namespace {

constexpr database_instant origin{nanoseconds{1'790'000'000'000'000'000}};
constexpr stream_id campaign{1};
constexpr stream_id direct{2};

route_pace fast_pace() {
  return {{1, origin - 1s, rate::from_millihertz(1'000'000)}, std::nullopt, origin, {}};
}

std::vector<reserved_row> rows_of(stream_id stream, std::int64_t first, std::int32_t count,
                                  std::int32_t cost = 1) {
  std::vector<reserved_row> rows;
  for (std::int64_t id = first; id < first + count; ++id)
    rows.push_back({{message_id{id}, 0}, stream, cost, origin + nanoseconds{id}});
  return rows;
}

std::vector<message_id> ids_of(const group_claim& group) {
  std::vector<message_id> ids;
  for (const reserved_row& row : group.rows)
    ids.push_back(row.of.message);
  return ids;
}

outcome ended(message_id id, outcome_kind kind, reason_code reason = reason_code::none) {
  outcome made;
  made.of.message = id;
  made.kind = kind;
  made.reason = reason;
  return made;
}

/// A policy of a single shard with one campaign and so many of its rows, ids from 1.
shard_policy with_rows(std::int32_t count) {
  shard_policy policy({0, 1});
  policy.put_stream({campaign, {}, 10, 1, {}}, origin);
  const auto plans = policy.plan_reserve(origin, rate::from_millihertz(1'000'000));
  BOOST_REQUIRE_EQUAL(plans.size(), 1u);
  policy.on_reserved(plans.front(), rows_of(campaign, 1, count));
  return policy;
}

group_claim claim_of(shard_policy& policy, database_instant now = origin) {
  const auto decision = policy.plan_group(now, fast_pace(), {});
  const auto* group = std::get_if<group_claim>(&decision);
  BOOST_REQUIRE(group);
  return *group;
}

} // namespace

BOOST_AUTO_TEST_SUITE(dispatch_policy)

BOOST_AUTO_TEST_CASE(each_stream_stays_within_one_message_of_its_weighted_share) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    fair_queue queue(1);
    std::map<stream_id, std::int32_t> weights;
    std::map<stream_id, std::int64_t> served;
    double total = 0;
    for (std::int64_t id = 1; id <= static_cast<std::int64_t>(2 + random() % 30); ++id) {
      const auto weight = static_cast<std::int32_t>(1 + random() % 1000);
      queue.put({stream_id{id}, {}, 10, weight, {}});
      queue.set_head(stream_id{id}, 1);
      weights[stream_id{id}] = weight;
      total += weight;
    }
    for (int n = 1; n <= 20'000; ++n) {
      const auto stream = queue.pick(origin);
      BOOST_REQUIRE(stream);
      queue.charge(*stream, 1, origin, 0ns);
      ++served[*stream];
      for (const auto& [id, weight] : weights)
        BOOST_REQUIRE_LE(std::abs(static_cast<double>(served[id]) - n * weight / total), 1.0001);
    }
  }
}

BOOST_AUTO_TEST_CASE(idleness_earns_nothing_and_priority_preempts) {
  fair_queue queue(1);
  queue.put({campaign, {}, 10, 1, {}});
  queue.put({stream_id{3}, {}, 10, 1, {}});
  queue.put({direct, {}, 0, 1, {}});
  queue.set_head(campaign, 1);
  for (int i = 0; i < 1'000; ++i)
    queue.charge(campaign, 1, origin, 0ns);
  queue.set_head(stream_id{3}, 1);
  int late_comer = 0;
  for (int i = 0; i < 10; ++i) {
    const stream_id picked = *queue.pick(origin);
    queue.charge(picked, 1, origin, 0ns);
    late_comer += picked == stream_id{3};
  }
  BOOST_CHECK(late_comer >= 4 && late_comer <= 6);
  queue.set_head(direct, 50);
  for (int i = 0; i < 10; ++i) {
    BOOST_CHECK(*queue.pick(origin) == direct);
    queue.charge(direct, 50, origin, 0ns);
  }
}

BOOST_AUTO_TEST_CASE(a_capped_stream_keeps_its_spacing_and_its_rate) {
  fair_queue queue(4);
  queue.put({campaign, {}, 10, 1, rate::from_millihertz(40'000)}); // 10/s for each of 4 shards
  queue.set_head(campaign, 1);
  int sent = 0;
  for (database_instant at = origin; at < origin + 100s; at += 7ms) {
    if (!queue.pick(at))
      continue;
    queue.charge(campaign, 1, at, 7ms);
    ++sent;
  }
  BOOST_CHECK(sent >= 990 && sent <= 1'001);
}

BOOST_AUTO_TEST_CASE(own_rows_are_read_first_then_anothers_then_it_sleeps_until_woken) {
  shard_policy policy({1, 4});
  const rate target = rate::from_millihertz(1'000);
  policy.put_stream({campaign, {}, 10, 1, {}}, origin);
  auto plans = policy.plan_reserve(origin, target);
  BOOST_REQUIRE_EQUAL(plans.size(), 1u);
  BOOST_CHECK(plans[0].part == bucket_part::own && plans[0].after == read_cursor{});
  BOOST_CHECK(policy.plan_reserve(origin, target).empty()); // one read at a time
  policy.on_reserved(plans[0], {});
  plans = policy.plan_reserve(origin, target);
  BOOST_REQUIRE_EQUAL(plans.size(), 1u);
  BOOST_CHECK(plans[0].part == bucket_part::other);
  policy.on_reserved(plans[0], {});
  BOOST_CHECK(policy.plan_reserve(origin, target).empty());
  policy.wake(campaign, origin + 2s, origin);
  BOOST_CHECK(policy.next_wake() == origin + 2s);
  BOOST_CHECK(policy.plan_reserve(origin + 1s, target).empty());
  plans = policy.plan_reserve(origin + 2s, target);
  BOOST_REQUIRE_EQUAL(plans.size(), 1u);
  BOOST_CHECK(plans[0].part == bucket_part::own);
  policy.wake(campaign, origin + 2s, origin + 2s); // while the read is under way
  policy.on_reserved(plans[0], {});
  BOOST_CHECK(policy.plan_reserve(origin + 2s, target).at(0).part == bucket_part::own);
}

BOOST_AUTO_TEST_CASE(a_shard_that_found_rows_of_its_own_leaves_the_others_theirs_until_woken) {
  shard_policy policy({1, 4});
  const rate target = rate::from_millihertz(1'000);
  policy.put_stream({campaign, {}, 10, 1, {}}, origin);
  policy.on_reserved(policy.plan_reserve(origin, target).at(0), rows_of(campaign, 1, 1));
  policy.on_claimed(claim_of(policy).group_no, {});
  BOOST_CHECK(policy.plan_reserve(origin, target).empty());
  policy.wake(campaign, origin, origin);
  policy.on_reserved(policy.plan_reserve(origin, target).at(0), {});
  BOOST_CHECK(policy.plan_reserve(origin, target).at(0).part == bucket_part::other);
}

BOOST_AUTO_TEST_CASE(a_full_page_goes_on_behind_its_last_row_and_known_rows_are_skipped) {
  shard_policy policy({0, 1});
  const rate target = rate::from_millihertz(200'000);
  policy.put_stream({campaign, {}, 10, 1, {}}, origin);
  const auto first = policy.plan_reserve(origin, target).at(0);
  BOOST_CHECK_EQUAL(first.limit, 200);
  policy.on_reserved(first, rows_of(campaign, 1, 200));
  const group_claim group = claim_of(policy);
  BOOST_CHECK_EQUAL(group.rows.size(), 100u);
  const auto second = policy.plan_reserve(origin, target).at(0);
  BOOST_CHECK(second.after.id == message_id{200});
  policy.on_reserved(second, rows_of(campaign, 50, 60)); // claimed and reserved ones, short
  BOOST_CHECK_EQUAL(policy.reserved(), 100u);
}

BOOST_AUTO_TEST_CASE(direct_mail_goes_ahead_of_everything_unclaimed) {
  shard_policy policy = with_rows(1'000);
  policy.put_stream({direct, {}, 0, 1, {}}, origin);
  const auto plans = policy.plan_reserve(origin, rate::from_millihertz(1'000'000));
  BOOST_REQUIRE_EQUAL(plans.size(), 1u);
  BOOST_CHECK(plans[0].stream == direct);
  const auto dropped = policy.on_reserved(plans[0], rows_of(direct, 5'001, 2));
  BOOST_CHECK_EQUAL(dropped.size(), 2u); // memory stays bounded
  BOOST_CHECK_EQUAL(policy.reserved(), 1'000u);
  const group_claim group = claim_of(policy);
  BOOST_CHECK(group.rows[0].stream == direct && group.rows[1].stream == direct);
  BOOST_CHECK(group.rows[2].stream == campaign);
}

BOOST_AUTO_TEST_CASE(urgent_rows_are_read_at_once_also_while_others_as_urgent_wait) {
  shard_policy policy = with_rows(1'000);
  const rate target = rate::from_millihertz(1'000'000);
  policy.put_stream({direct, {}, 0, 1, {}}, origin);
  policy.on_reserved(policy.plan_reserve(origin, target).at(0), rows_of(direct, 5'001, 1));
  BOOST_CHECK(policy.plan_reserve(origin, target).empty()); // nobody has said that there are more
  policy.wake(direct, origin, origin);
  const auto plans = policy.plan_reserve(origin, target);
  BOOST_REQUIRE_EQUAL(plans.size(), 1u);
  BOOST_CHECK(plans[0].stream == direct);
}

BOOST_AUTO_TEST_CASE(groups_are_shorter_while_priorities_are_mixed_and_for_a_while_after) {
  shard_policy policy = with_rows(1'000);
  BOOST_CHECK_EQUAL(claim_of(policy).rows.size(), 100u); // of 250
  shard_policy mixed = with_rows(1'000);
  route_pace slower = fast_pace();
  slower.current.target = rate::from_millihertz(200'000); // slots 5 ms apart
  const auto rows_at = [&mixed, &slower](database_instant now) {
    const auto group = std::get<group_claim>(mixed.plan_group(now, slower, {}));
    mixed.on_claimed(group.group_no, {});
    return group.rows.size();
  };
  BOOST_CHECK_EQUAL(rows_at(origin), 51u); // 0, 5, ... 250 ms
  mixed.put_stream({direct, {}, 0, 1, {}}, origin);
  mixed.wake(direct, origin, origin);
  mixed.remove_stream(direct);
  BOOST_CHECK_EQUAL(rows_at(origin + 9s), 31u); // ... 150 ms
  BOOST_CHECK_EQUAL(rows_at(origin + 10s), 51u);
}

BOOST_AUTO_TEST_CASE(what_was_dropped_from_memory_is_read_again) {
  shard_policy policy = with_rows(1'000);
  policy.put_stream({direct, {}, 0, 1, {}}, origin);
  const rate target = rate::from_millihertz(1'000'000);
  policy.on_reserved(policy.plan_reserve(origin, target).at(0), rows_of(direct, 5'001, 5));
  for (int i = 0; i < 6; ++i) {
    const group_claim group = claim_of(policy);
    policy.on_claimed(group.group_no, ids_of(group));
  }
  const auto plans = policy.plan_reserve(origin, target);
  BOOST_REQUIRE_EQUAL(plans.size(), 1u);
  BOOST_CHECK(plans[0].after.id == message_id{995});
}

BOOST_AUTO_TEST_CASE(a_claim_in_doubt_is_repeated_with_its_number_and_rows) {
  shard_policy policy = with_rows(500);
  const group_claim first = claim_of(policy);
  BOOST_CHECK_EQUAL(first.group_no, 1);
  const auto busy = policy.plan_group(origin, fast_pace(), {});
  BOOST_CHECK(std::get<group_wait>(busy).cause == pause_cause::claim_running);
  policy.on_claim_in_doubt(1);
  const group_claim again = claim_of(policy);
  BOOST_CHECK(again.is_repeat && again.group_no == 1 && ids_of(again) == ids_of(first));
  policy.on_claimed(1, ids_of(first));
  policy.on_claimed(1, {}); // a late second answer
  BOOST_CHECK_EQUAL(policy.in_flight(), first.rows.size());
  BOOST_CHECK_EQUAL(claim_of(policy).group_no, 2);
}

BOOST_AUTO_TEST_CASE(a_group_waits_for_its_slot_and_covers_a_quarter_second) {
  shard_policy policy = with_rows(500);
  route_pace slow = fast_pace();
  slow.current.target = rate::from_millihertz(20'000); // slots 50 ms apart
  const gate_state gate{origin + 100ms, slow.current};
  const auto early = std::get<group_wait>(policy.plan_group(origin, slow, gate));
  BOOST_CHECK(early.cause == pause_cause::slot_far);
  BOOST_CHECK(*early.until == origin + 150ms - 75ms);
  const auto group = std::get<group_claim>(policy.plan_group(*early.until, slow, gate));
  BOOST_CHECK_EQUAL(group.rows.size(), 4u); // 150, 200, 250, 300 of 325 ms
}

BOOST_AUTO_TEST_CASE(a_wide_message_is_claimed_shortly_before_its_turn) {
  shard_policy policy({1, 2});
  policy.put_stream({campaign, {}, 10, 1, {}}, origin);
  policy.on_reserved(policy.plan_reserve(origin, rate::from_millihertz(10'000)).at(0),
                     rows_of(campaign, 1, 50, 3));
  const route_pace slow{{1, origin, rate::from_millihertz(10'000)}, std::nullopt, origin, {}};
  const auto early = std::get<group_wait>(policy.plan_group(origin, slow, {}));
  BOOST_CHECK(early.cause == pause_cause::slot_far);
  BOOST_CHECK(*early.until == origin + 300ms - 75ms);
  const auto group = std::get<group_claim>(policy.plan_group(*early.until, slow, {}));
  BOOST_CHECK(group.not_before == origin + 300ms);
  BOOST_CHECK_EQUAL(group.rows.size(), 1u); // the next one starts at 900 ms
}

BOOST_AUTO_TEST_CASE(waiting_for_turns_takes_nothing_from_a_capped_stream) {
  const shard_position position{1, 4};
  shard_policy policy(position);
  policy.put_stream({campaign, {}, 10, 1, rate::from_millihertz(90'000)}, origin);
  route_pace pace{{1, origin, rate::from_millihertz(100'000)}, std::nullopt, origin, {}};
  gate_state gate;
  std::int64_t sent = 0, id = 1;
  for (database_instant now = origin; now < origin + 100s;) {
    for (const auto& plan : policy.plan_reserve(now, pace.current.target)) {
      policy.on_reserved(plan, rows_of(campaign, id, plan.limit, 10));
      id += plan.limit;
    }
    const auto decision = policy.plan_group(now, pace, gate);
    if (const auto* wait = std::get_if<group_wait>(&decision)) {
      now = *wait->until;
      continue;
    }
    const auto& group = std::get<group_claim>(decision);
    const std::vector<std::int32_t> costs(group.rows.size(), 10);
    pace.read_at = now;
    BOOST_REQUIRE_EQUAL(take_group(gate, pace, position, group.not_before, costs).size(),
                        costs.size());
    policy.on_claimed(group.group_no, ids_of(group));
    for (const message_id one : ids_of(group)) {
      policy.on_outcome(ended(one, outcome_kind::accepted), now);
      policy.on_recorded(one);
    }
    sent += group.total_cost;
  }
  BOOST_CHECK(sent >= 2'220 && sent <= 2'270); // 90/s for each of 4 shards
}

BOOST_AUTO_TEST_CASE(calls_in_flight_are_bounded_and_outcomes_make_room) {
  policy_settings settings;
  settings.in_flight_cap = 100;
  shard_policy policy({0, 1}, settings);
  policy.put_stream({campaign, {}, 10, 1, {}}, origin);
  policy.on_reserved(policy.plan_reserve(origin, rate::from_millihertz(1'000'000)).at(0),
                     rows_of(campaign, 1, 900));
  const group_claim group = claim_of(policy);
  policy.on_claimed(group.group_no, ids_of(group));
  const auto full = policy.plan_group(origin, fast_pace(), {});
  BOOST_CHECK(std::get<group_wait>(full).cause == pause_cause::in_flight);
  policy.on_outcome(ended(group.rows[0].of.message, outcome_kind::accepted), origin);
  BOOST_CHECK_EQUAL(claim_of(policy).rows.size(), 1u);
}

outcome held_back(message_id id, nanoseconds wait) {
  auto made = ended(id, outcome_kind::not_started, reason_code::provider_down);
  made.retry_after = wait;
  return made;
}

BOOST_AUTO_TEST_CASE(an_outage_stops_claiming_and_one_message_at_a_time_tries_again) {
  shard_policy policy = with_rows(500);
  const group_claim group = claim_of(policy);
  policy.on_claimed(group.group_no, ids_of(group));
  for (const message_id id : ids_of(group))
    policy.on_outcome(held_back(id, 3s), origin);
  const auto stopped = std::get<group_wait>(policy.plan_group(origin, fast_pace(), {}));
  BOOST_CHECK(stopped.cause == pause_cause::provider_down);
  BOOST_CHECK(stopped.until == origin + 3s);
  const group_claim probe = claim_of(policy, *stopped.until);
  BOOST_CHECK_EQUAL(probe.rows.size(), 1u);
  policy.on_claimed(probe.group_no, {}); // canceled meanwhile
  const group_claim second = claim_of(policy, *stopped.until);
  BOOST_CHECK_EQUAL(second.rows.size(), 1u);
  policy.on_claimed(second.group_no, ids_of(second));
  const auto trying = std::get<group_wait>(policy.plan_group(origin + 9s, fast_pace(), {}));
  BOOST_CHECK(trying.cause == pause_cause::provider_down);
  BOOST_CHECK(!trying.until);
  policy.on_outcome(ended(second.rows[0].of.message, outcome_kind::accepted), *stopped.until);
  BOOST_CHECK_GT(claim_of(policy, *stopped.until).rows.size(), 1u);
}

BOOST_AUTO_TEST_CASE(a_provider_of_batches_gets_a_full_request_in_one_slot) {
  policy_settings settings;
  settings.batch = 50;
  shard_policy policy({0, 1}, settings);
  policy.put_stream({campaign, {}, 10, 1, {}}, origin);
  const rate two = rate::from_millihertz(2'000);
  const route_pace pace{{1, origin, two}, std::nullopt, origin, {}};
  auto rows = rows_of(campaign, 1, 100, 3);
  policy.on_reserved(policy.plan_reserve(origin, two).at(0), rows);
  const auto group = std::get<group_claim>(policy.plan_group(origin + 450ms, pace, {}));
  BOOST_CHECK_EQUAL(group.rows.size(), 50u);
  BOOST_CHECK_EQUAL(group.total_cost, 1);
}

BOOST_AUTO_TEST_CASE(a_message_that_was_refused_with_others_goes_in_a_request_of_its_own) {
  policy_settings settings;
  settings.batch = 50;
  shard_policy policy({0, 1}, settings);
  policy.put_stream({campaign, {}, 10, 1, {}}, origin);
  const rate two = rate::from_millihertz(2'000);
  const route_pace pace{{1, origin, two}, std::nullopt, origin, {}};
  auto rows = rows_of(campaign, 1, 10);
  rows[2].alone = rows[3].alone = true;
  policy.on_reserved(policy.plan_reserve(origin, two).at(0), rows);
  std::vector<std::size_t> sizes;
  for (auto now = origin + 450ms; sizes.size() < 4; now += 500ms) {
    const auto group = std::get<group_claim>(policy.plan_group(now, pace, {}));
    sizes.push_back(group.rows.size());
    policy.on_claimed(group.group_no, ids_of(group));
  }
  const std::vector<std::size_t> expected{2, 1, 1, 6};
  BOOST_CHECK_EQUAL_COLLECTIONS(sizes.begin(), sizes.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(nothing_is_claimed_beyond_the_daily_grant) {
  shard_policy policy = with_rows(500);
  policy.grant().set_limited(true);
  const auto none = std::get<group_wait>(policy.plan_group(origin, fast_pace(), {}));
  BOOST_CHECK(none.cause == pause_cause::daily_grant);
  policy.grant().on_granted(7, origin);
  BOOST_CHECK_EQUAL(claim_of(policy).rows.size(), 7u);
}

BOOST_AUTO_TEST_CASE(a_removed_stream_gives_up_its_reserved_rows_only) {
  shard_policy policy = with_rows(500);
  const group_claim group = claim_of(policy);
  BOOST_CHECK_EQUAL(policy.remove_stream(campaign).size(), 500 - group.rows.size());
  policy.on_claimed(group.group_no, ids_of(group));
  BOOST_CHECK_EQUAL(policy.in_flight(), group.rows.size());
  const auto empty = policy.plan_group(origin, fast_pace(), {});
  BOOST_CHECK(std::holds_alternative<group_needs_rows>(empty));
}

BOOST_AUTO_TEST_SUITE_END()
