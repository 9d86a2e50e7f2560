#include "storage/operations.hpp"

#include <boost/test/unit_test.hpp>

#include "test/pg/database_fixture.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr const char* me = "cli:anna@host";

class operations_fixture : public route_fixture {
public:
  void quota(std::int64_t max_24h, std::int64_t sent_24h) {
    must(store_quota(*db, route, {rate::per_second(20), max_24h, sent_24h}));
  }
  route_reading reading() { return must(read_route(*db, route)); }
  /// Action, subject and detail of the newest audit row.
  std::string last_audit() {
    return ask("SELECT action || ' ' || subject || ' ' || detail::text FROM audit_log"
               " WHERE actor = 'cli:anna@host' ORDER BY id DESC LIMIT 1");
  }
  std::string audits() { return ask("SELECT count(*) FROM audit_log"); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(operations, operations_fixture)

BOOST_AUTO_TEST_CASE(a_paused_route_stays_paused_whatever_happens_to_its_quota) {
  quota(100, 0);
  BOOST_TEST(must(pause_route(*db, route, "too many complaints", me)) == "running");
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 0);
  must(wait_for_daily_quota(*db, route, std::chrono::seconds{60}));
  quota(100, 100);
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 0);
  quota(100, 0);
  const auto paused = reading();
  BOOST_TEST((paused.state == route_state::paused));
  BOOST_TEST(paused.state_reason == "too many complaints");
  BOOST_TEST(last_audit()
             == "route.pause live:r1 {\"was\":\"running\",\"reason\":\"too many complaints\"}");
  BOOST_TEST(must(resume_route(*db, route, me)) == "paused");
  BOOST_TEST((reading().state == route_state::running));
  BOOST_TEST(reading().state_reason == "");
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 10);
  BOOST_TEST(last_audit() == "route.resume live:r1 {\"was\":\"paused\"}");
}

BOOST_AUTO_TEST_CASE(a_route_is_paused_from_every_state) {
  quota(10, 10);
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 0);
  BOOST_TEST(must(pause_route(*db, route, "r", me)) == "waiting");
  BOOST_TEST(must(pause_route(*db, route, "again", me)) == "paused");
  BOOST_TEST(reading().state_reason == "again");
  must(stop_route(*db, route, "suspended"));
  BOOST_TEST(must(pause_route(*db, route, "r", me)) == "stopped");
  BOOST_TEST((reading().state == route_state::paused));
}

BOOST_AUTO_TEST_CASE(a_route_that_waits_is_not_resumed_and_one_that_runs_stays_as_it_is) {
  quota(10, 10);
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 0);
  const auto refused = resume_route(*db, route, me);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.failure().kind == error_kind::refused));
  BOOST_TEST((reading().state == route_state::waiting));
  quota(10, 0);
  BOOST_TEST(must(resume_route(*db, route, me)) == "running");
  BOOST_TEST(audits() == "0"); // nothing has changed
}

BOOST_AUTO_TEST_CASE(an_operator_s_rate_is_read_with_the_route_until_it_is_cleared) {
  BOOST_TEST(reading().override_rate.is_zero());
  must(override_rate(*db, route, rate::per_second(12.5), me));
  BOOST_TEST(reading().override_rate.per_second() == 12.5);
  BOOST_TEST(last_audit() == "route.set-rate live:r1 {\"rate_mhz\":12500}");
  must(override_rate(*db, route, std::nullopt, me));
  BOOST_TEST(reading().override_rate.is_zero());
  BOOST_TEST(last_audit() == "route.clear-rate live:r1 {\"rate_mhz\":null}");
}

BOOST_AUTO_TEST_CASE(a_rate_out_of_range_is_refused_and_those_at_the_bounds_are_not) {
  for (const double wrong : {0.0, 0.019, 1e6 + 1})
    BOOST_TEST((override_rate(*db, route, rate::per_second(wrong), me).failure().kind
                == error_kind::invalid));
  BOOST_TEST(audits() == "0");
  for (const double right : {0.02, 1e6}) {
    must(override_rate(*db, route, rate::per_second(right), me));
    BOOST_TEST(reading().override_rate.per_second() == right);
  }
}

BOOST_AUTO_TEST_CASE(a_renewal_tells_a_node_that_it_shall_stop_also_without_a_shard) {
  const auto asked = [this](node_id node) {
    return must(renew_shards(*db, node, {}, {route})).stop_requested;
  };
  BOOST_TEST(!asked(alice));
  must(request_stop(*db, alice, me));
  must(request_stop(*db, alice, me));
  BOOST_TEST(asked(alice));
  BOOST_TEST(!asked(bob));
  BOOST_TEST(must(show_node(*db, alice)).is_stopping);
  const auto held = acquire(alice, 0);
  BOOST_TEST(must(renew_shards(*db, alice, {held}, {route})).stop_requested);
  BOOST_TEST(last_audit()
             == "node.stop " + std::to_string(alice.value()) + " {\"name\":\"alice\"}");
}

BOOST_AUTO_TEST_CASE(a_node_that_has_stopped_is_not_asked_again_and_leaves_the_list) {
  BOOST_TEST(must(list_nodes(*db)).size() == 2u);
  must(retire_node(*db, alice));
  BOOST_TEST((request_stop(*db, alice, me).failure().kind == error_kind::refused));
  BOOST_TEST(must(show_node(*db, alice)).has_stopped);
  const auto left = must(list_nodes(*db));
  BOOST_REQUIRE(left.size() == 1u);
  BOOST_TEST(left[0].id.value() == bob.value());
  BOOST_TEST(audits() == "0");
}

BOOST_AUTO_TEST_CASE(a_node_is_listed_with_its_shards_and_calls) {
  auto first = acquire(bob, 0);
  auto second = acquire(bob, 1);
  first.in_flight = 3;
  second.in_flight = 4;
  must(renew_shards(*db, bob, {first, second}, {}));
  const auto seen = must(show_node(*db, bob));
  BOOST_TEST(seen.name == "bob");
  BOOST_TEST(seen.shards == 2);
  BOOST_TEST(seen.in_flight == 7);
  BOOST_TEST(must(show_node(*db, alice)).shards == 0);
}

BOOST_AUTO_TEST_CASE(what_does_not_exist_is_not_found) {
  const route_id no_route{999};
  BOOST_TEST((pause_route(*db, no_route, "r", me).failure().kind == error_kind::not_found));
  BOOST_TEST((resume_route(*db, no_route, me).failure().kind == error_kind::not_found));
  BOOST_TEST(
      (override_rate(*db, no_route, std::nullopt, me).failure().kind == error_kind::not_found));
  BOOST_TEST((request_stop(*db, node_id{999}, me).failure().kind == error_kind::not_found));
  BOOST_TEST((show_node(*db, node_id{999}).failure().kind == error_kind::not_found));
}

BOOST_AUTO_TEST_SUITE_END()
