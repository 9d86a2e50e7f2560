#include <algorithm>
#include <deque>
#include <random>

#include <boost/test/unit_test.hpp>

#include "actors/dispatch/breaker.hpp"
#include "actors/dispatch/daily_grant.hpp"

using namespace paceline;
using namespace std::chrono_literals;

namespace {

constexpr database_instant origin{nanoseconds{1'790'000'000'000'000'000}};

outcome of_kind(outcome_kind kind, reason_code reason = reason_code::none) {
  outcome made;
  made.kind = kind;
  made.reason = reason;
  return made;
}
const outcome accepted = of_kind(outcome_kind::accepted);
const outcome timeout = of_kind(outcome_kind::unknown, reason_code::provider_timeout);
const outcome unreachable = of_kind(outcome_kind::not_started, reason_code::provider_unreachable);

} // namespace

BOOST_AUTO_TEST_SUITE(dispatch_breaker)

BOOST_AUTO_TEST_CASE(five_hard_failures_in_a_row_open_it) {
  breaker b;
  for (int i = 0; i < 4; ++i)
    b.on_outcome(timeout, false, origin, 1);
  b.on_outcome(accepted, false, origin, 1);
  for (int i = 0; i < 4; ++i)
    b.on_outcome(unreachable, false, origin, 1);
  BOOST_CHECK(b.state() == breaker_state::closed);
  b.on_outcome(timeout, false, origin, 1);
  BOOST_CHECK(b.state() == breaker_state::waiting);
}

BOOST_AUTO_TEST_CASE(half_of_the_last_twenty_open_it) {
  breaker b;
  for (int i = 0; i < 9; ++i) {
    b.on_outcome(timeout, false, origin, 1);
    b.on_outcome(accepted, false, origin, 1);
  }
  BOOST_CHECK(b.state() == breaker_state::closed);
  b.on_outcome(timeout, false, origin, 1);
  BOOST_CHECK(b.state() == breaker_state::waiting);
}

BOOST_AUTO_TEST_CASE(throttles_and_rejections_count_neither_way) {
  breaker b;
  for (int i = 0; i < 4; ++i)
    b.on_outcome(timeout, false, origin, 1);
  for (int i = 0; i < 100; ++i) {
    b.on_outcome(of_kind(outcome_kind::throttled), false, origin, 1);
    b.on_outcome(of_kind(outcome_kind::rejected), false, origin, 1);
    b.on_outcome(of_kind(outcome_kind::not_started, reason_code::slot_missed), false, origin, 1);
  }
  BOOST_CHECK(b.state() == breaker_state::closed);
  b.on_outcome(timeout, false, origin, 1);
  BOOST_CHECK(b.state() == breaker_state::waiting);
}

BOOST_AUTO_TEST_CASE(one_message_probes_after_a_wait_that_doubles_to_a_minute) {
  breaker b;
  database_instant now = origin;
  for (int i = 0; i < 5; ++i)
    b.on_outcome(unreachable, false, now, ~0ull);
  nanoseconds longest = 1s;
  for (int probe = 0; probe < 100; ++probe) {
    BOOST_REQUIRE(b.state() == breaker_state::waiting);
    BOOST_REQUIRE(b.probe_at() > now && b.probe_at() <= now + longest);
    BOOST_REQUIRE_EQUAL(*b.allowance(b.probe_at() - 1ns), 0);
    now = b.probe_at();
    BOOST_REQUIRE_EQUAL(*b.allowance(now), 1);
    b.on_probe_claimed();
    BOOST_REQUIRE_EQUAL(*b.allowance(now), 0);
    b.on_outcome(unreachable, true, now, static_cast<std::uint64_t>(probe) * 7919 + 5);
    longest = std::min<nanoseconds>(longest * 2, 60s);
  }
  b.on_probe_claimed();
  b.on_outcome(accepted, true, now, 1);
  BOOST_CHECK(!b.allowance(now));
}

BOOST_AUTO_TEST_CASE(an_outage_leaves_at_most_twenty_unknown_however_long_it_lasts) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    breaker b;
    database_instant now = origin;
    std::deque<bool> last_twenty; // what went wrong before and was made good since is no outage
    while (b.state() == breaker_state::closed) {
      const bool fails = random() % 3 > 0;
      last_twenty.push_back(fails);
      if (last_twenty.size() > 20)
        last_twenty.pop_front();
      b.on_outcome(fails ? timeout : accepted, false, now, random());
    }
    auto unknown = std::ranges::count(last_twenty, true);
    const int in_flight = static_cast<int>(random() % 50);
    for (int i = 0; i < in_flight; ++i)
      b.on_outcome(timeout, false, now, random());
    for (int hours = 0; hours < 10'000; ++hours) {
      now += 60s;
      if (*b.allowance(now) == 0)
        continue;
      b.on_probe_claimed();
      const bool starts = random() % 4 > 0;
      unknown += starts;
      b.on_outcome(starts ? timeout : unreachable, true, now, random());
    }
    BOOST_CHECK_LE(unknown, 20);
    BOOST_CHECK(b.state() == breaker_state::stopped);
    b.on_provider_alive(now);
    BOOST_CHECK_EQUAL(*b.allowance(now), 1);
  }
}

BOOST_AUTO_TEST_CASE(a_lost_probe_is_replaced_at_once) {
  breaker b;
  for (int i = 0; i < 5; ++i)
    b.on_outcome(timeout, false, origin, 1);
  b.on_probe_claimed();
  b.on_probe_lost(origin + 5s);
  BOOST_CHECK_EQUAL(*b.allowance(origin + 5s), 1);
}

BOOST_AUTO_TEST_CASE(grants_are_drawn_for_five_seconds_when_less_than_one_is_left) {
  const rate share = rate::from_millihertz(100'000);
  daily_grant g;
  BOOST_CHECK_EQUAL(g.needed(origin, share), 0); // no limit known
  BOOST_CHECK(g.use(1'000'000));
  g.set_limited(true);
  BOOST_CHECK_EQUAL(g.needed(origin, share), 500);
  g.on_asked();
  BOOST_CHECK_EQUAL(g.needed(origin, share), 0);
  g.on_granted(500, origin);
  BOOST_CHECK(g.use(400));
  BOOST_CHECK_EQUAL(g.needed(origin, share), 0);
  BOOST_CHECK(g.use(1));
  BOOST_CHECK_EQUAL(g.needed(origin, share), 401);
  BOOST_CHECK(!g.use(100));
  g.give_back(1);
  BOOST_CHECK(g.use(100));
}

BOOST_AUTO_TEST_CASE(an_empty_grant_waits_until_the_quota_frees) {
  daily_grant g;
  g.set_limited(true);
  g.on_asked();
  g.on_granted(0, origin + 1h);
  const rate share = rate::from_millihertz(20);
  BOOST_CHECK_EQUAL(g.needed(origin + 1h - 1ns, share, 50), 0);
  BOOST_CHECK_EQUAL(g.needed(origin + 1h, share, 50), 50);
}

BOOST_AUTO_TEST_SUITE_END()
