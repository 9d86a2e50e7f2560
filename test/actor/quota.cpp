// The quota actor in virtual time. Its statements go to a pool that has stopped and answers at once
// that it can't; the test gives the database's answers instead.

#include <cmath>

#include <boost/test/unit_test.hpp>

#include "actors/quota.hpp"
#include "test/actor/listener.hpp"
#include "test/support/captured_log.hpp"
#include "test/support/read_metrics.hpp"
#include "test/support/virtual_desk.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

namespace {

struct quota_stage {
  quota_stage() {
    pool.stop();
    supervisor = time.spawn<listener>(supervisor_heard);
    quota_options options;
    options.route = route_id{1};
    options.route_text = "test:sim";
    options.rate_factor = 1.1;
    options.measured = route_instruments{measured, "test:sim"};
    quota = time.spawn<quota_actor>(options, pool, desk, time, log.log);
    route.route = route_id{1};
    route.current = {1, time.database_now(), rate::per_second(22)};
    renew();
  }

  void renew() {
    use_reading fresh{route, time.clock()};
    fresh.reading.read_at = time.database_now();
    caf::send_as(supervisor, quota, fresh);
    time.settle();
  }
  /// Time passes with a renewal every 1.5 s.
  void live(int renewals) {
    for (int i = 0; i < renewals; ++i) {
      time.pass(1500ms);
      renew();
    }
  }
  void refuse(refusal what) {
    caf::anon_send(quota, heed_refusal{what, "429", 0s});
    time.settle();
  }
  void answer_quota(double per_second) {
    quota_answered answer;
    answer.quota = quota_reading{rate::per_second(per_second), -1, 0};
    caf::anon_send(quota, answer);
    time.settle();
  }
  /// The route's row was written.
  void answer_change(std::int64_t number, double target, nanoseconds brake) {
    route.current = {number, time.database_now() + 100ms, rate::per_second(target)};
    route.brake_left = brake;
    route.read_at = time.database_now();
    route_changed answer;
    answer.reading = std::make_shared<const result<route_reading>>(route);
    answer.braked = brake > nanoseconds{0};
    caf::anon_send(quota, answer);
    time.settle();
  }
  std::size_t tried() const { return log.lines("could not be changed").size(); }

  metrics measured;
  virtual_time time;
  captured_log log;
  statement_counts counts;
  database_pool pool{{"host=/nowhere"}, 1, 1, counts};
  virtual_desk desk{time};
  heard supervisor_heard;
  caf::actor supervisor, quota;
  route_reading route;
};

rate per_second(double value) {
  return rate::per_second(value);
}

} // namespace

BOOST_AUTO_TEST_SUITE(quota)

BOOST_AUTO_TEST_CASE(the_wanted_target_follows_quota_factor_absolute_rate_and_brake) {
  quota_options factor;
  factor.rate_factor = 1.1;
  quota_options fixed;
  fixed.absolute = per_second(30);
  BOOST_TEST(!wanted_target(factor, std::nullopt, {}, false));
  BOOST_TEST(!wanted_target(fixed, std::nullopt, {}, false));
  BOOST_TEST((wanted_target(factor, per_second(20), {}, false) == per_second(22)));
  BOOST_TEST((wanted_target(factor, per_second(20), {}, true) == per_second(20)));
  BOOST_TEST((wanted_target(fixed, per_second(20), {}, false) == per_second(30)));
  BOOST_TEST((wanted_target(fixed, per_second(20), {}, true) == per_second(20)));
  BOOST_TEST((wanted_target(fixed, per_second(50), {}, true) == per_second(30)));
  factor.rate_factor = 0.5; // a brake never makes it faster
  BOOST_TEST((wanted_target(factor, per_second(20), {}, true) == per_second(10)));
}

BOOST_AUTO_TEST_CASE(an_operator_s_rate_comes_before_the_configured_ones_but_not_before_a_brake) {
  quota_options factor;
  factor.rate_factor = 1.1;
  quota_options fixed;
  fixed.absolute = per_second(30);
  BOOST_TEST(!wanted_target(factor, std::nullopt, per_second(5), false));
  BOOST_TEST((wanted_target(factor, per_second(20), per_second(5), false) == per_second(5)));
  BOOST_TEST((wanted_target(fixed, per_second(20), per_second(40), false) == per_second(40)));
  BOOST_TEST((wanted_target(fixed, per_second(20), per_second(40), true) == per_second(20)));
}

BOOST_FIXTURE_TEST_CASE(a_rate_that_an_operator_sets_and_clears_is_followed, quota_stage) {
  answer_quota(20);
  BOOST_TEST(log.lines("target changes").empty()); // 22 is the target already
  route.override_rate = per_second(7);
  renew();
  BOOST_REQUIRE(log.lines("target changes").size() >= 1u);
  BOOST_TEST(log.lines("target changes").back().find("\"to\":7,") != std::string::npos);
  answer_change(2, 7, 0s);
  const auto before = log.lines("target changes").size();
  live(2);
  BOOST_TEST(log.lines("target changes").size() == before);
  route.override_rate = rate{};
  renew();
  BOOST_TEST(log.lines("target changes").back().find("\"to\":22,") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_configuration_that_was_read_again_is_followed_at_once, quota_stage) {
  answer_quota(20);
  caf::anon_send(quota, change_rate{0.5, rate{}});
  time.settle();
  BOOST_REQUIRE(!log.lines("target changes").empty());
  BOOST_TEST(log.lines("target changes").back().find("\"to\":10,") != std::string::npos);
  answer_change(2, 10, 0s);
  caf::anon_send(quota, change_rate{0.5, per_second(13)});
  time.settle();
  BOOST_TEST(log.lines("target changes").back().find("\"to\":13,") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(refusals_of_one_second_are_one_brake, quota_stage) {
  for (int i = 0; i < 5; ++i) {
    refuse(refusal::rate);
    time.pass(100ms);
  }
  BOOST_TEST(log.lines("braking").size() == 1u);
  time.pass(600ms);
  refuse(refusal::rate);
  BOOST_TEST(log.lines("braking").size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(refusals_and_the_daily_quota_can_be_seen, quota_stage) {
  auto value = [this](std::string_view name, const std::string& labels) {
    return series_of(measured.exposition(), name).at(labels);
  };
  for (auto what : {refusal::rate, refusal::rate, refusal::daily_quota, refusal::this_message,
                    refusal::sending_paused}) {
    refuse(what);
    time.pass(1100ms);
  }
  auto refused = [&value](const std::string& what) {
    return value("paceline_refusals_total", "{refusal=\"" + what + "\",route=\"test:sim\"}");
  };
  BOOST_TEST(refused("rate") == 2);
  BOOST_TEST(refused("daily_quota") == 1);
  BOOST_TEST(refused("sending_paused") == 1);
  quota_answered answer;
  answer.quota = quota_reading{per_second(20), 50'000, 1234};
  caf::anon_send(quota, answer);
  time.settle();
  BOOST_TEST(value("paceline_daily_quota", R"({route="test:sim"})") == 50'000);
  BOOST_TEST(value("paceline_daily_sent", R"({route="test:sim"})") == 1234);
  answer_quota(20); // no limit
  BOOST_TEST(std::isinf(value("paceline_daily_quota", R"({route="test:sim"})")));
}

BOOST_FIXTURE_TEST_CASE(a_brake_stops_the_courier_before_it_is_written, quota_stage) {
  caf::anon_send(quota, heed_refusal{refusal::rate, "429", 0s});
  BOOST_TEST(time.pass_until([this] { return desk.refused_up_to > 0; }, 1s));
  BOOST_TEST(desk.refused_up_to == 1);
  BOOST_TEST(supervisor_heard.readings.empty());
}

BOOST_FIXTURE_TEST_CASE(a_brake_that_could_not_be_written_is_written_again, quota_stage) {
  refuse(refusal::rate);
  BOOST_TEST(tried() == 1u);
  live(2);
  BOOST_TEST(tried() >= 5u);
  BOOST_TEST(tried() <= 8u);
  answer_change(2, 11, 10s);
  BOOST_REQUIRE(supervisor_heard.readings.size() == 1u);
  BOOST_TEST(supervisor_heard.readings[0].reading.current.number == 2);
  const auto before = tried();
  live(2);
  BOOST_TEST(tried() == before);
}

BOOST_FIXTURE_TEST_CASE(the_target_is_raised_when_the_brake_is_over, quota_stage) {
  answer_quota(20);
  refuse(refusal::rate);
  answer_change(2, 11, 10s);
  answer_quota(20);
  const auto changes = [this] { return log.lines("target changes"); };
  BOOST_REQUIRE(changes().size() == 1u);
  BOOST_TEST(changes()[0].find("\"to\":20") != std::string::npos);
  BOOST_TEST(changes()[0].find("\"braked\":true") != std::string::npos);
  answer_change(3, 20, 9s);
  live(2);
  BOOST_TEST(changes().size() == 1u);
  route.brake_left = 0s;
  live(1);
  BOOST_REQUIRE(changes().size() >= 2u);
  BOOST_TEST(changes()[1].find("\"to\":22") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_node_without_readings_of_the_route_does_nothing, quota_stage) {
  refuse(refusal::rate);
  time.pass(6s);
  const auto before = tried();
  time.pass(60s);
  BOOST_TEST(tried() == before);
}

BOOST_AUTO_TEST_SUITE_END()
