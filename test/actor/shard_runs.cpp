// Runs, rest, drain, and the lines about them.

#include <boost/test/unit_test.hpp>

#include "test/actor/shard_stage.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(shard_runs)

BOOST_AUTO_TEST_CASE(a_run_ends_after_45_seconds_and_the_next_goes_on_without_a_pause) {
  shard_stage stage({2, 20});
  stage.add(stage.news, 3000);
  stage.supervise();
  stage.time.pass(120s);
  BOOST_TEST(stage.supervisor.ended.size() == 4u); // two shards, at 45 and at 90 s
  for (const auto& ended : stage.supervisor.ended)
    BOOST_TEST(!ended.idle);
  BOOST_TEST(longest_gap(stage.ledger()).count() <= nanoseconds{51ms}.count());
  BOOST_TEST(mean_rate(stage.ledger()) >= 0.995 * 20);
}

BOOST_AUTO_TEST_CASE(a_shard_with_nothing_to_do_ends_its_run_and_rests_until_it_hears_of_work) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 10);
  stage.supervise();
  BOOST_TEST(stage.time.pass_until([&stage] { return !stage.supervisor.ended.empty(); }, 10s));
  BOOST_TEST(stage.is_done());
  BOOST_TEST(stage.supervisor.ended.back().idle);
  stage.is_polling = false;
  stage.time.pass(3s);
  const auto statements = stage.stores[0]->statements();
  const auto steps = stage.time.steps();
  stage.time.pass(15s);
  BOOST_TEST(stage.stores[0]->statements() == statements);
  // Ten renewals, each a message and its event; nothing else.
  BOOST_TEST(stage.time.steps() - steps <= 50u);
  stage.add(stage.news, 10);
  stage.poll();
  BOOST_TEST(stage.time.pass_until([&stage] { return stage.is_done(); }, 5s));
  BOOST_TEST(stage.supervisor.ended.size() >= 1u);
}

BOOST_AUTO_TEST_CASE(an_alarm_with_an_old_number_begins_no_run) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 5);
  stage.poll();
  BOOST_TEST(stage.time.pass_until([&stage] { return !stage.supervisor.ended.empty(); }, 10s));
  const auto statements = stage.stores[0]->statements();
  stage.add(stage.news, 5);
  caf::anon_send(stage.shards[0], fire_alarm{1, nullptr});
  stage.time.pass(2s);
  BOOST_TEST(stage.stores[0]->statements() == statements);
  BOOST_TEST(stage.ledger().size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_message_that_is_due_soon_leaves_when_it_is_due) {
  shard_stage stage({1, 20});
  const auto due = stage.time.database_now() + 2500ms;
  stage.table.add(stage.news, 1, due);
  stage.add(stage.direct, 1);
  stage.supervise();
  BOOST_TEST(stage.time.pass_until([&stage] { return stage.is_done(); }, 10s));
  BOOST_TEST((stage.ledger().back().at >= due));
  BOOST_TEST((stage.ledger().back().at < due + 200ms));
}

BOOST_AUTO_TEST_CASE(a_drain_brings_everything_home_and_is_reported_once) {
  shard_stage stage({2, 50});
  stage.add(stage.news, 1000);
  stage.supervise();
  stage.time.pass(3s);
  stage.drain();
  BOOST_TEST(stage.time.pass_until([&stage] { return stage.supervisor.drained.size() == 2; }, 5s));
  BOOST_TEST(stage.count(message_status::attempting) == 0);
  BOOST_TEST(stage.count(message_status::acceptance_unknown) == 0);
  const auto sent = stage.ledger().size();
  BOOST_TEST(stage.count(message_status::accepted) == static_cast<std::int64_t>(sent));
  stage.time.pass(10s);
  BOOST_TEST(stage.ledger().size() == sent);
  BOOST_TEST(stage.supervisor.drained.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_drain_with_a_claim_in_doubt_finds_out_and_ends) {
  using enum database_fault;
  for (auto fault : {in_doubt_before, in_doubt_after}) {
    shard_stage stage({1, 50});
    stage.add(stage.news, 100);
    stage.supervise();
    stage.time.pass(1s);
    auto& faults = stage.stores[0]->claims.faults;
    faults = {fault, unavailable};
    BOOST_TEST(stage.time.pass_until([&faults] { return faults.size() == 1; }, 1s));
    stage.drain();
    BOOST_TEST(
        stage.time.pass_until([&stage] { return stage.supervisor.drained.size() == 1; }, 10s));
    BOOST_TEST(stage.count(message_status::attempting) == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_resting_shard_drains_at_once) {
  shard_stage stage({1, 50});
  stage.drain();
  stage.time.settle();
  BOOST_TEST(stage.supervisor.drained.size() == 1u);
}

BOOST_AUTO_TEST_CASE(every_run_says_what_it_did) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 30);
  stage.supervise();
  BOOST_TEST(stage.time.pass_until([&stage] { return !stage.supervisor.ended.empty(); }, 10s));
  const auto lines = stage.log.lines("\"DISPATCH_RUN\"");
  BOOST_REQUIRE(lines.size() == 1u);
  const std::string& line = lines.front();
  for (const std::string part :
       {"\"shard\":\"test:sim:0/1\"", "\"claimed\":30", "\"sent\":30", "\"deferred\":0",
        "\"skipped\":0", "\"failed\":0", "\"batches\":", "\"statements\":", "\"run_ms\":",
        "\"reserve_ms\":", "\"prepare_ms\":", "\"claim_ms\":", "\"pace_ms\":", "\"send_ms\":",
        "\"quota\":", "\"rate\":20", "\"braked\":false"})
    BOOST_TEST(line.find(part) != std::string::npos, part << " is missing in " << line);
}

BOOST_AUTO_TEST_SUITE_END()
