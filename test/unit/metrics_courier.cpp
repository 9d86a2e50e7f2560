// What the courier counts: slots, lateness, calls in flight, and how long they took.

#include <boost/test/unit_test.hpp>

#include "test/support/read_metrics.hpp"
#include "test/unit/courier_support.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

const std::string route = R"({route="test:sim"})";

struct measured_bench {
  metrics measured;
  courier_bench bench{courier_options{}, call_instruments{measured, "test:sim"}};

  double value(std::string_view name, const std::string& labels = route) const {
    auto series = series_of(measured.exposition(), name);
    return series.contains(labels) ? series.at(labels) : 0;
  }
  double calls_of(const std::string& outcome) const {
    return value("paceline_call_seconds_count", "{outcome=\"" + outcome + "\",route=\"test:sim\"}");
  }
  void send(std::int64_t id, std::size_t recipients = 1) {
    auto order = bench.order(id, milliseconds{1});
    auto message = std::make_shared<outgoing_message>(*order.message);
    message->recipients.resize(recipients, "anna@example.com");
    order.message = message;
    bench.submit(std::move(order));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(metrics_courier, measured_bench)

BOOST_AUTO_TEST_CASE(a_call_is_in_flight_until_its_answer_and_its_time_is_counted_by_outcome) {
  send(1);
  send(2);
  bench.pass(milliseconds{1});
  BOOST_TEST(value("paceline_calls_in_flight") == 2);
  bench.pass(milliseconds{170});
  bench.provider->answer(0, outcome_kind::accepted);
  bench.provider->answer(1, outcome_kind::rejected);
  BOOST_TEST(value("paceline_calls_in_flight") == 0);
  BOOST_TEST(calls_of("accepted") == 1);
  BOOST_TEST(calls_of("rejected") == 1);
  BOOST_TEST(value("paceline_call_seconds_sum", R"({outcome="accepted",route="test:sim"})") == 0.17,
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(every_recipient_uses_a_slot) {
  send(1, 3);
  send(2);
  bench.pass(milliseconds{2});
  BOOST_TEST(value("paceline_slots_used_total") == 4);
  BOOST_TEST(value("paceline_slots_late_total") == 0);
  BOOST_TEST(value("paceline_slots_lost_total") == 0);
}

BOOST_AUTO_TEST_CASE(a_start_of_more_than_a_millisecond_after_its_slot_is_late) {
  send(1, 2);
  bench.loop.pass_to(bench.loop.now() + milliseconds{3}); // the thread overslept by 2 ms
  bench.core.advance();
  BOOST_TEST(value("paceline_slots_used_total") == 2);
  BOOST_TEST(value("paceline_slots_late_total") == 2);
  BOOST_TEST(value("paceline_start_lateness_seconds_sum") == 0.002);
}

BOOST_AUTO_TEST_CASE(a_missed_slot_is_lost_and_not_used) {
  send(1, 2);
  bench.loop.pass_to(bench.loop.now() + milliseconds{50});
  bench.core.advance();
  BOOST_TEST(value("paceline_slots_lost_total") == 2);
  BOOST_TEST(value("paceline_slots_used_total") == 0);
  BOOST_TEST(value("paceline_calls_in_flight") == 0);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_given_up_is_unknown_and_a_late_answer_counts_as_well) {
  send(1);
  bench.pass(std::chrono::seconds{31});
  BOOST_TEST(calls_of("unknown") == 1);
  BOOST_TEST(value("paceline_calls_in_flight") == 0);
  bench.provider->answer(0, outcome_kind::accepted);
  BOOST_TEST(calls_of("accepted") == 1);
  BOOST_TEST(value("paceline_calls_in_flight") == 0);
}

BOOST_AUTO_TEST_CASE(a_call_that_was_never_written_has_no_duration) {
  bench.provider->asks_at_once = false;
  send(1);
  bench.pass(milliseconds{2});
  BOOST_TEST(value("paceline_calls_in_flight") == 1);
  bench.core.purge(shard_id{1}, reason_code::ownership_lost);
  BOOST_TEST(!bench.provider->calls[0].what->may_write());
  bench.provider->answer(0, outcome_kind::not_started);
  BOOST_TEST(value("paceline_calls_in_flight") == 0);
  BOOST_TEST(series_of(measured.exposition(), "paceline_call_seconds_count").empty());
}

BOOST_AUTO_TEST_CASE(what_is_open_at_the_end_is_not_in_flight_any_more) {
  send(1);
  bench.pass(milliseconds{2});
  bench.core.begin_stop();
  bench.core.finish_stop();
  BOOST_TEST(value("paceline_calls_in_flight") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
