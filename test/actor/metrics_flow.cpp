// After a campaign of N messages the counters say N.

#include <boost/test/unit_test.hpp>

#include "test/actor/shard_stage.hpp"
#include "test/support/read_metrics.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

namespace {

const std::string route = R"({route="test:sim"})";

struct seen {
  explicit seen(const shard_stage& stage) : text(stage.measured.exposition()) {}

  double value(std::string_view name, const std::string& labels = route) const {
    return series_of(text, name).at(labels);
  }
  double messages(const std::string& outcome) const {
    return value("paceline_messages_total", "{outcome=\"" + outcome + "\",route=\"test:sim\"}");
  }
  std::string text;
};

provider_answer answered(outcome_kind kind, reason_code reason = reason_code::none) {
  provider_answer given;
  given.kind = kind;
  given.reason = reason;
  return given;
}

/// Until the table has every outcome and the recorder has heard that it does.
void finish(shard_stage& stage) {
  BOOST_REQUIRE(stage.time.pass_until([&stage] { return stage.is_done(); }, 5min));
  stage.time.pass(1s);
}

} // namespace

BOOST_AUTO_TEST_SUITE(metrics_flow)

BOOST_AUTO_TEST_CASE(a_campaign_of_so_many_messages_counts_so_many) {
  shard_stage stage({4, 100});
  stage.add(stage.news, 1000);
  stage.supervise();
  finish(stage);
  seen now{stage};
  BOOST_TEST(now.messages("accepted") == 1000);
  for (const auto* none : {"throttled", "rejected", "unknown", "not_started"})
    BOOST_TEST(now.messages(none) == 0, none);
  BOOST_TEST(now.value("paceline_slots_used_total") == 1000);
  BOOST_TEST(now.value("paceline_slots_lost_total") == 0);
  BOOST_TEST(now.value("paceline_group_size_sum") == 1000);
  BOOST_TEST(now.value("paceline_record_batch_size_sum", "") == 1000);
  BOOST_TEST(now.value("paceline_calls_in_flight") == 0);
  BOOST_TEST(now.value("paceline_call_seconds_count", R"({outcome="accepted",route="test:sim"})")
             == 1000);
  BOOST_TEST(now.value("paceline_share_rate") == 100); // all four shards are here
}

BOOST_AUTO_TEST_CASE(each_outcome_counts_as_itself_and_every_attempt_counts) {
  shard_stage stage({1, 50});
  int calls = 0;
  stage.desk.answer = [&calls](const call&) {
    switch (++calls % 10) {
    case 3:
      return answered(outcome_kind::rejected, reason_code::provider_rejected);
    case 6:
      return answered(outcome_kind::throttled, reason_code::provider_throttled);
    case 9:
      return answered(outcome_kind::unknown, reason_code::provider_server_error);
    default:
      return answered(outcome_kind::accepted);
    }
  };
  stage.add(stage.news, 300);
  stage.supervise();
  finish(stage);
  seen now{stage};
  BOOST_TEST(now.messages("accepted") == stage.count(message_status::accepted));
  BOOST_TEST(now.messages("rejected") == stage.count(message_status::rejected));
  BOOST_TEST(now.messages("unknown") == stage.count(message_status::acceptance_unknown));
  BOOST_TEST(now.messages("throttled") == calls - 300);
  BOOST_TEST(now.messages("throttled") > 0);
  BOOST_TEST(now.value("paceline_slots_used_total") == calls);
}

BOOST_AUTO_TEST_CASE(outcomes_that_must_be_stored_twice_count_once) {
  shard_stage stage({1, 50});
  using enum database_fault;
  stage.records.connection.faults = {in_doubt_after, none, unavailable, in_doubt_after};
  stage.add(stage.news, 200);
  stage.supervise();
  finish(stage);
  BOOST_TEST(seen{stage}.messages("accepted") == 200);
}

BOOST_AUTO_TEST_CASE(a_stalled_courier_shows_as_lost_slots_and_every_message_still_counts_once) {
  shard_stage stage({1, 100});
  stage.add(stage.news, 200);
  stage.supervise();
  stage.time.pass(1s);
  stage.desk.stall(200ms);
  finish(stage);
  seen now{stage};
  BOOST_TEST(now.value("paceline_slots_lost_total") > 5);
  BOOST_TEST(now.value("paceline_slots_used_total") == 200);
  BOOST_TEST(now.messages("accepted") == 200);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_rendered_is_skipped_and_not_attempted) {
  shard_stage stage({1, 50});
  stage.add(stage.news, 10);
  stage.table.contents[content_id{2}] = {content_id{2}, "a@example.org", "{{#open", "x", "", "{}"};
  stage.add(stage.news, 3);
  stage.supervise();
  finish(stage);
  seen now{stage};
  BOOST_TEST(now.messages("accepted") == 10);
  BOOST_TEST(now.value("paceline_messages_skipped_total", R"({route="test:sim",stage="prepare"})")
             == 3);
}

BOOST_AUTO_TEST_CASE(an_open_breaker_can_be_seen) {
  shard_stage stage({2, 50});
  stage.desk.answer = [](const call&) {
    return answered(outcome_kind::unknown, reason_code::provider_server_error);
  };
  stage.add(stage.news, 500);
  stage.supervise();
  stage.time.pass(5s);
  stage.renew();
  stage.time.settle();
  auto states = series_of(seen{stage}.text, "paceline_breaker");
  BOOST_TEST(states.at(R"({route="test:sim",state="closed"})") == 0);
  double all = 0;
  for (const auto& [labels, is_on] : states)
    all += is_on;
  BOOST_TEST(all == 1);
}

BOOST_AUTO_TEST_SUITE_END()
