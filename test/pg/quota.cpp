#include "test/pg/database_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/operations.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const grid_lead with_held{milliseconds{1250}, milliseconds{100}};

class quota_fixture : public route_fixture {
public:
  route_reading target(double per_second, const grid_lead& lead = {}) {
    return must(set_target(*db, route, alice, rate::per_second(per_second), lead));
  }
  route_reading brake() { return must(brake_route(*db, route, alice, seconds{10}, {})); }
  void quota(std::int64_t max_24h, std::int64_t sent_24h, double per_second = 20) {
    must(store_quota(*db, route, {rate::per_second(per_second), max_24h, sent_24h}));
  }
  /// As if all this had happened so much earlier.
  void age_grids(const std::string& ns) {
    ask("UPDATE routes SET grid_start_ns = grid_start_ns - " + ns
        + ", next_start_ns = next_start_ns - " + ns);
  }
  std::string column(const std::string& name) {
    return ask("SELECT " + name + " FROM routes WHERE id = " + std::to_string(route.value()));
  }
};

double newest_target(const route_reading& reading) {
  return (reading.next ? reading.next->target : reading.current.target).per_second();
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(quota, quota_fixture)

BOOST_AUTO_TEST_CASE(a_new_route_has_no_grid_and_its_first_one_lies_ahead) {
  BOOST_TEST(must(read_route(*db, route)).current.number == 0);
  const auto before = must(read_clock(*db));
  const auto first = target(22);
  const auto after = must(read_clock(*db));
  BOOST_TEST(first.current.target.is_zero());
  BOOST_TEST(first.next.value().number == 1);
  BOOST_TEST(first.next->target.per_second() == 22.0);
  // The lead counts from an instant within the call.
  BOOST_TEST((first.next->start >= before + milliseconds{1250}));
  BOOST_TEST((first.next->start <= after + milliseconds{1250}));
}

BOOST_AUTO_TEST_CASE(a_grid_that_has_started_reads_as_the_current_one) {
  target(22);
  age_grids("2000000000");
  const auto reading = must(read_route(*db, route));
  BOOST_TEST(reading.current.number == 1);
  BOOST_TEST(reading.current.target.per_second() == 22.0);
  BOOST_TEST(!reading.next);
}

BOOST_AUTO_TEST_CASE(the_same_target_again_changes_nothing) {
  const auto first = target(22);
  BOOST_TEST((target(22).next == first.next));
  age_grids("2000000000");
  BOOST_TEST(!target(22).next);
  BOOST_TEST(target(22).current.number == 1);
}

BOOST_AUTO_TEST_CASE(a_pending_grid_becomes_the_current_one_and_the_next_follows_it) {
  const auto first = target(22);
  const auto second = target(11);
  BOOST_TEST((second.current == first.next));
  BOOST_TEST(second.next.value().number == 2);
  BOOST_TEST(second.next->target.per_second() == 11.0);
  BOOST_TEST((second.next->start > second.current.start));
  const auto third = target(5, with_held);
  BOOST_TEST(third.next.value().number == 3);
  BOOST_TEST((third.current == second.next));
  // A short lead still can't come before the grid that it follows.
  BOOST_TEST((third.next->start > third.current.start));
}

BOOST_AUTO_TEST_CASE(the_short_lead_is_only_for_the_one_owner_of_all_owned_shards) {
  const auto lead_of = [](const route_reading& reading) {
    return reading.next.value().start - reading.read_at;
  };
  acquire(alice, 0);
  BOOST_TEST((lead_of(target(22, with_held)) <= milliseconds{100}));
  age_grids("10000000000");
  BOOST_TEST((lead_of(target(23)) > milliseconds{100}));
  age_grids("10000000000");
  const auto other = acquire(bob, 1);
  BOOST_TEST((lead_of(target(24, with_held)) > milliseconds{100}));
  age_grids("10000000000");
  must(release_shards(*db, bob, {other}));
  BOOST_TEST((lead_of(target(25, with_held)) <= milliseconds{100}));
}

BOOST_AUTO_TEST_CASE(an_owner_of_an_older_generation_also_forbids_the_short_lead) {
  acquire(bob, 0);
  ask("UPDATE routes SET generation = 2");
  const auto reading = target(22, with_held);
  BOOST_TEST((reading.next.value().start - reading.read_at > milliseconds{100}));
}

BOOST_AUTO_TEST_CASE(targets_set_at_once_all_become_grids_in_a_row) {
  std::vector<std::unique_ptr<session>> connections;
  std::vector<std::future<route_reading>> running;
  for (int i = 0; i < 6; ++i)
    connections.push_back(connect());
  for (int i = 0; i < 6; ++i)
    running.push_back(std::async(std::launch::async, [this, i, &connections] {
      return must(set_target(*connections[static_cast<std::size_t>(i)], route, alice,
                             rate::per_second(10 + i), {}));
    }));
  for (auto& one : running)
    one.get();
  const auto reading = must(read_route(*db, route));
  BOOST_TEST(reading.next.value().number == 6);
}

BOOST_AUTO_TEST_CASE(a_brake_halves_the_target_and_makes_the_quota_stale) {
  quota(-1, 0);
  target(22);
  age_grids("5000000000");
  const auto braked = brake();
  BOOST_TEST((braked.brake_left > seconds{9}));
  BOOST_TEST(newest_target(braked) == 11.0);
  BOOST_TEST(column("quota_at") == "-infinity");
  BOOST_TEST(must(read_quota(*db, route)).value().age.count() > 0);
}

BOOST_AUTO_TEST_CASE(a_storm_of_refusals_halves_once) {
  quota(-1, 0, 5);
  target(22);
  age_grids("5000000000");
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(newest_target(brake()) == 11.0);
  // Also shortly after the halved grid began, but not for ever: 11/s is more than is allowed.
  age_grids("1500000000");
  BOOST_TEST(newest_target(brake()) == 11.0);
  age_grids("2500000000");
  BOOST_TEST(newest_target(brake()) == 5.5);
}

BOOST_AUTO_TEST_CASE(every_brake_begins_a_new_grid_because_couriers_refuse_the_ones_before) {
  quota(-1, 0);
  target(20);
  age_grids("5000000000");
  const auto number = [](const route_reading& reading) {
    return reading.next ? reading.next->number : reading.current.number;
  };
  const auto first = number(brake());
  BOOST_TEST(number(brake()) == first + 1);
}

BOOST_AUTO_TEST_CASE(while_braked_a_rate_that_the_provider_allows_is_not_halved_again) {
  quota(-1, 0);
  target(22);
  age_grids("5000000000");
  brake();
  quota(-1, 0);
  target(20);
  age_grids("5000000000");
  BOOST_TEST(newest_target(brake()) == 20.0);
  // A refusal after the brake has ended is a new one.
  ask("UPDATE routes SET brake_until = clock_timestamp()");
  BOOST_TEST(newest_target(brake()) == 10.0);
}

BOOST_AUTO_TEST_CASE(a_brake_never_raises_a_pending_lower_target_nor_reaches_zero) {
  target(22);
  age_grids("5000000000");
  target(4);
  BOOST_TEST(newest_target(brake()) == 4.0);
  must(set_target(*db, route, alice, rate::from_millihertz(1), {}));
  age_grids("5000000000");
  ask("UPDATE routes SET brake_until = clock_timestamp()");
  BOOST_TEST(newest_target(brake()) == 0.001);
}

BOOST_AUTO_TEST_CASE(a_shorter_brake_does_not_end_a_longer_one) {
  target(22);
  brake();
  const auto again = must(brake_route(*db, route, alice, milliseconds{1}, {}));
  BOOST_TEST((again.brake_left > seconds{9}));
}

BOOST_AUTO_TEST_CASE(of_all_who_want_to_refresh_the_quota_one_may) {
  std::vector<std::unique_ptr<session>> connections;
  std::vector<std::future<bool>> running;
  for (int i = 0; i < 6; ++i)
    connections.push_back(connect());
  for (auto& on : connections)
    running.push_back(std::async(std::launch::async, [this, &on] {
      return must(begin_quota_refresh(*on, route, seconds{60}));
    }));
  int won = 0;
  for (auto& one : running)
    won += one.get() ? 1 : 0;
  BOOST_TEST(won == 1);
}

BOOST_AUTO_TEST_CASE(a_fresh_quota_is_not_asked_for_and_a_stale_one_once_a_second) {
  quota(-1, 0);
  BOOST_TEST(!must(begin_quota_refresh(*db, route, nanoseconds{0}))); // within the second
  ask("UPDATE routes SET refreshing_until = clock_timestamp()");
  BOOST_TEST(!must(begin_quota_refresh(*db, route, seconds{60})));
  ask("UPDATE routes SET quota_at = clock_timestamp() - interval '61 s'");
  BOOST_TEST(must(begin_quota_refresh(*db, route, seconds{60})));
}

BOOST_AUTO_TEST_CASE(what_the_provider_said_is_read_back) {
  BOOST_TEST(!must(read_quota(*db, route)));
  quota(50'000, 120, 14.5);
  const auto cached = must(read_quota(*db, route)).value();
  BOOST_TEST(cached.quota.max_send_rate.per_second() == 14.5);
  BOOST_TEST(cached.quota.max_24h == 50'000);
  BOOST_TEST(cached.quota.sent_24h == 120);
  BOOST_TEST((cached.age < seconds{60}));
  BOOST_TEST(must(read_route(*db, route)).daily_limited);
}

BOOST_AUTO_TEST_CASE(an_unlimited_route_grants_whatever_is_wanted) {
  quota(-1, 1'000'000);
  BOOST_TEST(must(draw_grant(*db, route, 5'000)) == 5'000);
  BOOST_TEST(must(draw_grant(*db, route, 0)) == 0);
  BOOST_TEST(!must(read_route(*db, route)).daily_limited);
}

BOOST_AUTO_TEST_CASE(the_last_grant_is_partial_and_then_the_route_waits) {
  quota(100, 60);
  BOOST_TEST(must(draw_grant(*db, route, 30)) == 30);
  BOOST_TEST(must(draw_grant(*db, route, 30)) == 10);
  BOOST_TEST(must(draw_grant(*db, route, 30)) == 0);
  const auto waiting = must(read_route(*db, route));
  BOOST_TEST((waiting.state == route_state::waiting));
  BOOST_TEST(waiting.state_reason == "daily quota");
  BOOST_TEST((waiting.waiting_left > seconds{3500} && waiting.waiting_left <= seconds{3600}));
  quota(100, 100);
  BOOST_TEST((must(read_route(*db, route)).state == route_state::waiting));
  quota(200, 100);
  BOOST_TEST((must(read_route(*db, route)).state == route_state::running));
  BOOST_TEST(must(draw_grant(*db, route, 1'000)) == 100);
}

BOOST_AUTO_TEST_CASE(our_own_count_of_a_day_limits_where_the_provider_s_lags) {
  quota(100, 0);
  BOOST_TEST(must(draw_grant(*db, route, 70)) == 70);
  quota(100, 0);
  BOOST_TEST(must(draw_grant(*db, route, 70)) == 30);
  ask("UPDATE route_grants SET hour = hour - interval '26 hours'");
  quota(100, 0);
  BOOST_TEST(ask("SELECT count(*) FROM route_grants") == "0");
  BOOST_TEST(must(draw_grant(*db, route, 70)) == 70);
}

BOOST_AUTO_TEST_CASE(grants_drawn_at_once_never_exceed_the_cap) {
  constexpr std::int64_t cap = 1'000;
  quota(cap, 0);
  std::vector<std::unique_ptr<session>> connections;
  std::vector<std::future<std::int64_t>> running;
  for (int i = 0; i < 8; ++i)
    connections.push_back(connect());
  for (auto& on : connections)
    running.push_back(std::async(std::launch::async, [this, &on] {
      std::int64_t drawn = 0;
      for (int i = 0; i < 25; ++i) {
        drawn += must(draw_grant(*on, route, 7));
        if (i % 10 == 0) // a refresh in between must not forget what was drawn
          must(store_quota(*on, route, {rate::per_second(20), cap, 0}));
      }
      return drawn;
    }));
  std::int64_t drawn = 0;
  for (auto& one : running)
    drawn += one.get();
  BOOST_TEST(drawn == cap);
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_over_reads_as_running_and_grants_again) {
  quota(100, 0);
  must(wait_for_daily_quota(*db, route, seconds{60}));
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 0);
  must(wait_for_daily_quota(*db, route, seconds{1}));
  BOOST_TEST((must(read_route(*db, route)).waiting_left > seconds{50}));
  ask("UPDATE routes SET waiting_until = clock_timestamp()");
  BOOST_TEST((must(read_route(*db, route)).state == route_state::running));
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 10);
  BOOST_TEST(column("state") == "running");
}

BOOST_AUTO_TEST_CASE(a_stopped_route_stays_stopped_until_it_is_resumed) {
  quota(100, 0);
  must(stop_route(*db, route, "account suspended"));
  must(wait_for_daily_quota(*db, route, seconds{60}));
  quota(100, 0);
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 0);
  const auto stopped = must(read_route(*db, route));
  BOOST_TEST((stopped.state == route_state::stopped));
  BOOST_TEST(stopped.state_reason == "account suspended");
  must(resume_route(*db, route, "cli:test@host"));
  BOOST_TEST((must(read_route(*db, route)).state == route_state::running));
  BOOST_TEST(must(draw_grant(*db, route, 10)) == 10);
}

BOOST_AUTO_TEST_CASE(an_unknown_route_is_not_found) {
  const route_id none{999};
  BOOST_TEST((read_route(*db, none).failure().kind == error_kind::not_found));
  BOOST_TEST((set_target(*db, none, alice, rate::per_second(1), {}).failure().kind
              == error_kind::not_found));
  BOOST_TEST((draw_grant(*db, none, 1).failure().kind == error_kind::not_found));
  must(read_route(*db, route)); // the session is good
}

BOOST_AUTO_TEST_SUITE_END()
