#include <boost/test/unit_test.hpp>

#include "actors/dispatch/daily_grant.hpp"

using namespace paceline;
using namespace std::chrono_literals;

namespace {

constexpr database_instant origin{nanoseconds{1'790'000'000'000'000'000}};

} // namespace

BOOST_AUTO_TEST_SUITE(dispatch_grant)

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
