#include <algorithm>
#include <deque>
#include <random>

#include <boost/test/unit_test.hpp>

#include "transport/breaker.hpp"

using namespace paceline;
using namespace std::chrono_literals;

namespace {

constexpr boot_instant origin{std::chrono::hours{100}};

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

BOOST_AUTO_TEST_SUITE(courier_breaker)

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

BOOST_AUTO_TEST_CASE(a_provider_that_is_unavailable_fails_hard_and_costs_nothing_of_the_budget) {
  const auto unavailable = of_kind(outcome_kind::throttled, reason_code::provider_unavailable);
  breaker b;
  for (int i = 0; i < 5; ++i)
    b.on_outcome(unavailable, false, origin, 1);
  BOOST_CHECK(b.state() == breaker_state::waiting);
  boot_instant now = origin;
  for (int i = 0; i < 1000; ++i) {
    now += 61s;
    b.on_probe_started();
    b.on_outcome(unavailable, true, now, 1);
  }
  BOOST_CHECK(b.state() == breaker_state::waiting);
}

BOOST_AUTO_TEST_CASE(one_message_probes_after_a_wait_that_doubles_to_a_minute) {
  breaker b;
  boot_instant now = origin;
  for (int i = 0; i < 5; ++i)
    b.on_outcome(unreachable, false, now, ~0ull);
  nanoseconds longest = 1s;
  for (int probe = 0; probe < 100; ++probe) {
    BOOST_REQUIRE(b.state() == breaker_state::waiting);
    BOOST_REQUIRE(b.probe_at() > now && b.probe_at() <= now + longest);
    BOOST_REQUIRE(b.may_start(b.probe_at() - 1ns) == breaker::permission::no);
    now = b.probe_at();
    BOOST_REQUIRE(b.may_start(now) == breaker::permission::probe);
    b.on_probe_started();
    BOOST_REQUIRE(b.may_start(now) == breaker::permission::no);
    b.on_outcome(unreachable, true, now, static_cast<std::uint64_t>(probe) * 7919 + 5);
    longest = std::min<nanoseconds>(longest * 2, 60s);
  }
  b.on_probe_started();
  b.on_outcome(accepted, true, now, 1);
  BOOST_CHECK(b.may_start(now) == breaker::permission::go);
}

BOOST_AUTO_TEST_CASE(an_outage_leaves_at_most_twenty_unknown_however_long_it_lasts) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    breaker b;
    boot_instant now = origin;
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
      if (b.may_start(now) == breaker::permission::no)
        continue;
      b.on_probe_started();
      const bool starts = random() % 4 > 0;
      unknown += starts;
      b.on_outcome(starts ? timeout : unreachable, true, now, random());
    }
    BOOST_CHECK_LE(unknown, 20);
    BOOST_CHECK(b.state() == breaker_state::stopped);
    b.on_provider_alive(now);
    BOOST_CHECK(b.may_start(now) == breaker::permission::probe);
  }
}

BOOST_AUTO_TEST_CASE(a_lost_probe_is_replaced_at_once) {
  breaker b;
  for (int i = 0; i < 5; ++i)
    b.on_outcome(timeout, false, origin, 1);
  b.on_probe_started();
  b.on_outcome(of_kind(outcome_kind::not_started, reason_code::slot_missed), true, origin + 5s, 1);
  BOOST_CHECK(b.may_start(origin + 5s) == breaker::permission::probe);
}

BOOST_AUTO_TEST_SUITE_END()
