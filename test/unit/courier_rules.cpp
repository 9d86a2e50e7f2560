#include <boost/test/unit_test.hpp>

#include "test/unit/courier_support.hpp"

using namespace paceline;
using namespace paceline::test;

BOOST_AUTO_TEST_SUITE(courier_rules)

BOOST_AUTO_TEST_CASE(an_order_starts_at_its_slot_and_not_before) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{10}));
  bench.pass(milliseconds{10} - nanoseconds{1});
  BOOST_TEST(bench.provider->started == 0u);
  bench.pass(nanoseconds{1});
  BOOST_TEST(bench.provider->started == 1u);
}

BOOST_AUTO_TEST_CASE(orders_start_by_slot_whatever_order_they_came_in) {
  courier_bench bench;
  for (int id : {3, 1, 2})
    bench.submit(bench.order(id, milliseconds{id}));
  bench.pass(milliseconds{5});
  BOOST_REQUIRE(bench.provider->calls.size() == 3u);
  for (std::int64_t i = 0; i < 3; ++i)
    BOOST_TEST(bench.provider->calls[static_cast<std::size_t>(i)].what->message().of.message.value()
               == i + 1);
}

BOOST_AUTO_TEST_CASE(the_start_is_stamped_on_the_database_clock_with_its_lateness) {
  courier_bench bench;
  auto order = bench.order(1, milliseconds{1});
  auto slot = order.slot;
  bench.submit(std::move(order));
  bench.loop.pass_to(bench.loop.now() + milliseconds{3}); // the thread overslept by 2 ms
  bench.core.advance();
  BOOST_REQUIRE(bench.provider->calls.size() == 1u);
  BOOST_TEST((bench.provider->calls[0].what->started_at() == slot + milliseconds{2}));
  BOOST_TEST((bench.core.take_gauges().worst_lateness == milliseconds{2}));
  BOOST_TEST((bench.core.take_gauges().worst_lateness == nanoseconds{0}));
}

BOOST_AUTO_TEST_CASE(a_missed_slot_is_lost) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.loop.pass_to(bench.loop.now() + milliseconds{6} + nanoseconds{1});
  bench.pass(milliseconds{10});
  BOOST_TEST(bench.provider->started == 0u);
  BOOST_REQUIRE(bench.sink.all.size() == 1u);
  BOOST_TEST((bench.last().kind == outcome_kind::not_started));
  BOOST_TEST((bench.last().reason == reason_code::slot_missed));
  BOOST_TEST(!bench.last().started_at.has_value());
  BOOST_TEST(bench.core.take_gauges().missed == 1u);
}

BOOST_AUTO_TEST_CASE(a_call_that_connects_too_long_loses_its_slot_too) {
  courier_bench bench;
  bench.provider->asks_at_once = false;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.pass(milliseconds{1});
  bench.loop.pass_to(bench.loop.now() + milliseconds{6});
  BOOST_TEST(!bench.provider->calls.at(0).what->may_write());
  bench.provider->answer(0, outcome_kind::not_started);
  bench.pass(milliseconds{10});
  BOOST_TEST((bench.last().reason == reason_code::slot_missed));
}

BOOST_AUTO_TEST_CASE(nothing_starts_at_or_after_the_owners_deadline) {
  courier_bench bench;
  bench.core.set_deadline(shard_id{1}, epoch_id{1}, bench.loop.now() + milliseconds{10});
  bench.submit(bench.order(1, milliseconds{10} - nanoseconds{1}));
  bench.submit(bench.order(2, milliseconds{10}));
  bench.pass(milliseconds{20});
  BOOST_TEST(bench.provider->started == 1u);
  BOOST_REQUIRE(bench.sink.all.size() == 1u);
  BOOST_TEST(bench.last().of.message.value() == 2);
  BOOST_TEST((bench.last().reason == reason_code::ownership_lost));
}

BOOST_AUTO_TEST_CASE(a_renewed_deadline_counts_for_orders_that_already_wait) {
  courier_bench bench;
  bench.core.set_deadline(shard_id{1}, epoch_id{1}, bench.loop.now() + milliseconds{10});
  bench.submit(bench.order(1, milliseconds{15}));
  bench.pass(milliseconds{5});
  bench.core.set_deadline(shard_id{1}, epoch_id{1}, bench.loop.now() + milliseconds{100});
  bench.pass(milliseconds{20});
  BOOST_TEST(bench.provider->started == 1u);
}

BOOST_AUTO_TEST_CASE(the_end_of_an_ownership_returns_its_orders_at_once_and_for_good) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{50}));
  bench.core.set_deadline(shard_id{1}, epoch_id{1}, boot_instant{});
  bench.pass(milliseconds{6});
  BOOST_REQUIRE(bench.sink.all.size() == 1u);
  BOOST_TEST((bench.last().reason == reason_code::ownership_lost));
  // A renewal that was under way must not bring it back.
  bench.core.set_deadline(shard_id{1}, epoch_id{1}, bench.loop.now() + seconds{10});
  bench.submit(bench.order(2, milliseconds{1}));
  bench.pass(milliseconds{20});
  BOOST_TEST(bench.provider->started == 0u);
}

BOOST_AUTO_TEST_CASE(a_stale_owner_can_neither_start_nor_take_the_deadline_back) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{20}));
  bench.core.set_deadline(shard_id{1}, epoch_id{2}, bench.loop.now() + seconds{10});
  bench.core.set_deadline(shard_id{1}, epoch_id{1}, bench.loop.now() + seconds{10});
  bench.submit(bench.order(2, milliseconds{1}));
  auto current = bench.order(3, milliseconds{1});
  current.epoch = epoch_id{2};
  bench.submit(std::move(current));
  bench.pass(milliseconds{40});
  BOOST_TEST(bench.sink.all.size() == 2u);
  for (const auto& one : bench.sink.all)
    BOOST_TEST((one.result.reason == reason_code::ownership_lost));
  BOOST_TEST(bench.provider->started == 1u);
}

BOOST_AUTO_TEST_CASE(orders_of_a_shard_without_a_deadline_are_refused) {
  courier_bench bench;
  auto order = bench.order(1, milliseconds{1});
  order.shard = shard_id{7};
  bench.submit(std::move(order));
  bench.pass(milliseconds{10});
  BOOST_REQUIRE(bench.sink.all.size() == 1u);
  BOOST_TEST((bench.last().reason == reason_code::ownership_lost));
}

BOOST_AUTO_TEST_CASE(a_braked_grid_starts_nothing_and_the_next_grid_does) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{10}));
  auto newer = bench.order(2, milliseconds{10});
  newer.grid_number = 2;
  bench.submit(std::move(newer));
  bench.core.refuse_grids(route_id{1}, 1);
  bench.submit(bench.order(3, milliseconds{10}));
  bench.pass(milliseconds{30});
  BOOST_TEST(bench.provider->started == 1u);
  BOOST_TEST(bench.provider->calls.at(0).what->message().of.message.value() == 2);
  BOOST_REQUIRE(bench.sink.all.size() == 2u);
  for (const auto& one : bench.sink.all)
    BOOST_TEST((one.result.reason == reason_code::route_braked));
}

BOOST_AUTO_TEST_CASE(an_older_brake_does_not_lift_a_newer_one) {
  courier_bench bench;
  bench.core.refuse_grids(route_id{1}, 5);
  bench.core.refuse_grids(route_id{1}, 3);
  auto order = bench.order(1, milliseconds{1});
  order.grid_number = 5;
  bench.submit(std::move(order));
  bench.pass(milliseconds{10});
  BOOST_TEST(bench.provider->started == 0u);
}

BOOST_AUTO_TEST_CASE(a_stopped_stream_starts_nothing_until_it_is_allowed) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{10}));
  bench.core.stop_stream(stream_id{1});
  bench.submit(bench.order(2, milliseconds{10}));
  auto other = bench.order(3, milliseconds{10});
  other.stream = stream_id{2};
  bench.submit(std::move(other));
  bench.pass(milliseconds{20});
  BOOST_TEST(bench.sink.all.size() == 2u);
  for (const auto& one : bench.sink.all)
    BOOST_TEST((one.result.reason == reason_code::stream_stopped));
  bench.core.allow_stream(stream_id{1});
  bench.submit(bench.order(4, milliseconds{10}));
  bench.pass(milliseconds{20});
  BOOST_TEST(bench.provider->started == 2u); // 3 and 4
}

BOOST_AUTO_TEST_CASE(a_purge_returns_the_shards_waiting_orders_with_its_reason) {
  courier_bench bench;
  bench.core.set_deadline(shard_id{2}, epoch_id{1}, bench.loop.now() + seconds{10});
  auto other = bench.order(9, milliseconds{10});
  other.shard = shard_id{2};
  bench.submit(std::move(other));
  bench.submit(bench.order(1, milliseconds{10}));
  bench.core.purge(shard_id{1}, reason_code::node_stopping);
  bench.pass(milliseconds{20});
  BOOST_REQUIRE(bench.sink.all.size() == 1u);
  BOOST_TEST((bench.last().reason == reason_code::node_stopping));
  BOOST_TEST(bench.provider->started == 1u);
}

BOOST_AUTO_TEST_CASE(a_purge_also_stops_a_call_that_is_still_connecting) {
  courier_bench bench;
  bench.provider->asks_at_once = false;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.pass(milliseconds{1});
  bench.core.purge(shard_id{1}, reason_code::node_stopping);
  BOOST_TEST(!bench.provider->calls.at(0).what->may_write());
}

BOOST_AUTO_TEST_CASE(a_second_question_for_one_call_is_always_refused) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.pass(milliseconds{1}); // the provider has asked and may write
  BOOST_TEST(!bench.provider->calls.at(0).what->may_write());
  BOOST_TEST(!bench.provider->calls.at(0).what->may_write());
  bench.provider->answer(0, outcome_kind::unknown);
  bench.pass(milliseconds{10});
  BOOST_TEST((bench.last().kind == outcome_kind::unknown));
  BOOST_TEST(bench.last().started_at.has_value());
}

BOOST_AUTO_TEST_CASE(a_call_answered_twice_is_reported_once) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.pass(milliseconds{1});
  auto answered = bench.provider->calls.at(0).answered;
  answered(provider_answer{});
  answered(provider_answer{});
  bench.pass(milliseconds{10});
  BOOST_TEST(bench.sink.all.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_call_without_an_answer_becomes_unknown_and_a_late_answer_still_counts) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.pass(seconds{30});
  BOOST_TEST(bench.sink.all.empty());
  bench.pass(milliseconds{10});
  BOOST_REQUIRE(bench.sink.all.size() == 1u);
  BOOST_TEST((bench.last().kind == outcome_kind::unknown));
  BOOST_TEST((bench.last().reason == reason_code::provider_timeout));
  BOOST_TEST(bench.core.in_flight() == 0u);
  bench.provider->answer(0, outcome_kind::accepted);
  bench.pass(milliseconds{10});
  BOOST_REQUIRE(bench.sink.all.size() == 2u);
  BOOST_TEST((bench.last().kind == outcome_kind::accepted));
  BOOST_TEST(bench.last().started_at.has_value());
}

BOOST_AUTO_TEST_CASE(a_late_answer_that_says_no_more_is_not_reported_again) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.pass(seconds{31});
  bench.provider->answer(0, outcome_kind::unknown);
  bench.pass(milliseconds{10});
  BOOST_TEST(bench.sink.all.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_call_that_never_wrote_is_not_started_and_can_not_write_any_more) {
  courier_bench bench;
  bench.provider->asks_at_once = false;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.pass(seconds{31});
  BOOST_REQUIRE(bench.sink.all.size() == 1u);
  BOOST_TEST((bench.last().kind == outcome_kind::not_started));
  BOOST_TEST((bench.last().reason == reason_code::provider_unreachable));
  BOOST_TEST(!bench.provider->calls.at(0).what->may_write());
  bench.provider->answer(0, outcome_kind::not_started);
  bench.pass(milliseconds{10});
  BOOST_TEST(bench.sink.all.size() == 1u);
}

BOOST_AUTO_TEST_CASE(outcomes_gather_for_the_delay_per_shard) {
  courier_bench bench;
  for (int i = 1; i <= 3; ++i)
    bench.submit(bench.order(i, milliseconds{1}));
  bench.pass(milliseconds{1});
  for (std::size_t i = 0; i < 3; ++i)
    bench.provider->answer(i, outcome_kind::accepted);
  bench.pass(milliseconds{5} - nanoseconds{1});
  BOOST_TEST(bench.sink.batches.empty());
  bench.pass(nanoseconds{1});
  BOOST_REQUIRE(bench.sink.batches.size() == 1u);
  BOOST_TEST(bench.sink.batches[0].second == 3u);
}

BOOST_AUTO_TEST_CASE(a_hundred_outcomes_leave_at_once) {
  courier_bench bench;
  for (int i = 1; i <= 250; ++i)
    bench.submit(bench.order(i, milliseconds{1}));
  bench.pass(milliseconds{1});
  BOOST_REQUIRE(bench.provider->calls.size() == 250u);
  for (std::size_t i = 0; i < 250; ++i)
    bench.provider->answer(i, outcome_kind::accepted);
  BOOST_TEST(bench.sink.all.size() == 200u);
  bench.pass(milliseconds{5});
  BOOST_REQUIRE(bench.sink.batches.size() == 3u);
  BOOST_TEST(bench.sink.batches[2].second == 50u);
}

BOOST_AUTO_TEST_CASE(stopping_returns_what_waits_and_finishes_what_flies) {
  courier_bench bench;
  bench.submit(bench.order(1, milliseconds{1}));
  bench.submit(bench.order(2, milliseconds{1}));
  bench.submit(bench.order(3, milliseconds{50}));
  bench.pass(milliseconds{2});
  bench.core.begin_stop();
  bench.submit(bench.order(4, milliseconds{1}));
  bench.provider->answer(0, outcome_kind::accepted);
  BOOST_TEST(bench.core.in_flight() == 1u);
  bench.core.finish_stop();
  std::map<std::int64_t, outcome> results;
  for (const auto& one : bench.sink.all)
    results[one.result.of.message.value()] = one.result;
  BOOST_REQUIRE(results.size() == 4u);
  BOOST_TEST((results[1].kind == outcome_kind::accepted));
  BOOST_TEST((results[2].kind == outcome_kind::unknown));
  BOOST_TEST((results[3].reason == reason_code::node_stopping));
  BOOST_TEST((results[4].reason == reason_code::node_stopping));
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_provider_becomes_an_outcome) {
  struct throwing_provider final : provider {
    void start(call& what, answer_function) override {
      if (what.message().of.message.value() == 1)
        what.may_write();
      throw std::runtime_error("out of sockets");
    }
    void ask_quota(quota_function) override {}
  };
  courier_bench bench;
  bench.core.add_route(route_id{1}, std::make_unique<throwing_provider>());
  bench.submit(bench.order(1, milliseconds{1}));
  bench.submit(bench.order(2, milliseconds{1}));
  bench.pass(milliseconds{10});
  BOOST_REQUIRE(bench.sink.all.size() == 2u);
  BOOST_TEST((bench.sink.all[0].result.kind == outcome_kind::unknown));
  BOOST_TEST((bench.sink.all[1].result.kind == outcome_kind::not_started));
  BOOST_TEST(bench.sink.all[1].result.diagnostic == "out of sockets");
}

BOOST_AUTO_TEST_SUITE_END()
