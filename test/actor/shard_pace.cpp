// What leaves when: targets, grids, brakes, priorities.

#include <boost/test/unit_test.hpp>

#include "test/actor/shard_stage.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(shard_pace)

BOOST_AUTO_TEST_CASE(a_due_campaign_leaves_at_exactly_the_target_for_a_minute) {
  for (const std::int32_t shards : {1, 4}) {
    shard_stage stage({shards});
    stage.add(stage.news, 2000);
    stage.supervise();
    stage.time.pass(60s);
    BOOST_TEST_CONTEXT(shards << " shards") {
      BOOST_TEST(mean_rate(stage.ledger()) >= 0.995 * 22);
      BOOST_TEST(stage.ledger().size() >= 59u * 22u);
      BOOST_TEST(worst_excess(stage.ledger(), 22) <= 0);
      BOOST_TEST(stage.accepted_twice() == 0);
      for (const auto& store : stage.stores)
        BOOST_TEST(store->claimed.size() > 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_thousand_a_second_leave_from_four_shards_with_few_statements) {
  shard_stage stage({4, 1000});
  stage.add(stage.news, 12'000);
  stage.supervise();
  stage.time.pass(10s);
  BOOST_TEST(mean_rate(stage.ledger()) >= 0.995 * 1000);
  BOOST_TEST(stage.ledger().size() >= 9'800u);
  BOOST_TEST(worst_excess(stage.ledger(), 1000) <= 0);
  std::uint64_t statements = 0;
  for (const auto& store : stage.stores)
    statements += store->statements();
  BOOST_TEST(statements < stage.ledger().size() / 10);
}

BOOST_AUTO_TEST_CASE(one_message_in_two_seconds_is_kept_as_well) {
  shard_stage stage({4, 0.5});
  stage.add(stage.news, 40);
  stage.supervise();
  stage.time.pass(60s);
  BOOST_TEST(stage.ledger().size() >= 28u);
  BOOST_TEST(longest_gap(stage.ledger()).count() <= nanoseconds{2100ms}.count());
}

BOOST_AUTO_TEST_CASE(a_brake_loses_nothing_and_nothing_starts_until_the_new_grid) {
  shard_stage stage({4, 200});
  stage.add(stage.news, 3000);
  stage.supervise();
  stage.time.pass(5s);
  // As the quota actor: the courier first, then the row, then everybody.
  stage.desk.refuse_grids(stage.route, 1);
  const auto braked = stage.time.database_now();
  stage.announce(100, 100ms);
  stage.table.route.brake_left = 10s;
  stage.table.route.read_at = braked;
  stage.renew();
  stage.time.pass(5s);
  std::vector<started_call> after;
  for (const auto& call : stage.ledger())
    if (call.at > braked)
      after.push_back(call);
  BOOST_TEST((after.front().at > braked + 100ms));
  BOOST_TEST((after.front().at < braked + 400ms));
  BOOST_TEST(mean_rate(after) >= 0.995 * 100);
  BOOST_TEST(worst_excess(after, 100) <= 0);
  BOOST_TEST(stage.time.pass_until([&stage] { return stage.is_done(); }, 60s));
  BOOST_TEST(stage.count(message_status::accepted) == 3000);
  BOOST_TEST(stage.accepted_twice() == 0);
}

BOOST_AUTO_TEST_CASE(an_announced_target_takes_over_at_its_start) {
  shard_stage stage({2, 50});
  stage.add(stage.news, 2000);
  stage.supervise();
  stage.time.pass(3s);
  auto& route = stage.table.route;
  const auto begin = stage.time.database_now() + 1250ms;
  route.next = grid{2, begin, rate::per_second(100)};
  stage.time.pass(6s);
  std::vector<started_call> before, after;
  for (const auto& call : stage.ledger())
    (call.at < begin ? before : after).push_back(call);
  BOOST_TEST(mean_rate(before) >= 0.995 * 50);
  BOOST_TEST(worst_excess(before, 50) <= 0);
  BOOST_TEST(mean_rate(after) >= 0.995 * 100);
  BOOST_TEST(worst_excess(after, 100) <= 0);
}

BOOST_AUTO_TEST_CASE(direct_mail_overtakes_a_campaign) {
  shard_stage stage({2, 20});
  stage.add(stage.news, 1000);
  stage.supervise();
  stage.time.pass(5s);
  const auto asked = stage.time.database_now();
  const auto urgent = stage.add(stage.direct, 1).front();
  stage.poll();
  stage.time.pass(3s);
  auto started = std::ranges::find_if(
      stage.ledger(), [urgent](const auto& call) { return call.of.message == urgent; });
  BOOST_REQUIRE(started != stage.ledger().end());
  // What was claimed goes before it: a group covers 250 ms, and the next own slot is 100 ms away.
  BOOST_TEST((started->at - asked < 600ms));
}

BOOST_AUTO_TEST_CASE(a_stopped_route_sends_nothing_and_loses_nothing) {
  shard_stage stage({2, 20});
  stage.add(stage.news, 100);
  stage.supervise();
  stage.time.pass(2s);
  stage.table.route.state = route_state::stopped;
  stage.renew();
  stage.time.pass(2s);
  const auto sent = stage.ledger().size();
  stage.time.pass(10s);
  BOOST_TEST(stage.ledger().size() == sent);
  BOOST_TEST(stage.count(message_status::attempting) == 0);
  stage.table.route.state = route_state::running;
  BOOST_TEST(stage.time.pass_until([&stage] { return stage.is_done(); }, 20s));
  BOOST_TEST(stage.count(message_status::accepted) == 100);
}

BOOST_AUTO_TEST_SUITE_END()
