#include <random>

#include <boost/test/unit_test.hpp>

#include "actors/cluster/clock_estimate.hpp"

using namespace paceline;
using namespace std::chrono_literals;

namespace {

constexpr nanoseconds true_offset{1'790'000'000'000'000'000};
boot_instant boot(nanoseconds since) {
  return boot_instant{since};
}
database_instant database(nanoseconds since) {
  return database_instant{true_offset + since};
}

} // namespace

BOOST_AUTO_TEST_SUITE(dispatch_clock)

BOOST_AUTO_TEST_CASE(the_error_bound_is_honest_and_at_most_half_the_best_round_trip_plus_drift) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    clock_estimate estimate;
    const auto ppm = static_cast<std::int64_t>(random() % 21) - 10; // two clocks, 20 ppm apart
    nanoseconds now = 100s;
    std::int64_t best = 1'000'000'000;
    for (int i = 0; i < 300; ++i) {
      now += nanoseconds{static_cast<std::int64_t>(random() % 2'000'000'000)};
      const auto truth = [&](nanoseconds b) { return database(b + b / 1'000'000 * ppm); };
      const auto out = static_cast<std::int64_t>(random() % 2'000'000);
      const auto back = static_cast<std::int64_t>(random() % 2'000'000);
      best = std::min(best + 40'000, out + back); // 20 ppm of at most 2 s
      const nanoseconds b2 = now + nanoseconds{out + back};
      BOOST_REQUIRE(!estimate.on_round_trip(boot(now), truth(now + nanoseconds{out}), boot(b2)));
      now = b2;
      const nanoseconds off = estimate.at(boot(now)) - truth(now);
      BOOST_REQUIRE(std::max(off, -off) <= estimate.error(boot(now)));
      const nanoseconds later = estimate.at(boot(now + 1s)) - truth(now + 1s);
      BOOST_REQUIRE(std::max(later, -later) <= estimate.error(boot(now + 1s)));
      BOOST_REQUIRE(estimate.is_good(boot(now)));
    }
  }
}

BOOST_AUTO_TEST_CASE(forward_corrections_are_slewed_and_backward_ones_apply_at_once) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    clock_estimate estimate;
    nanoseconds now = 100s;
    estimate.on_round_trip(boot(now), database(now + 500us), boot(now + 1ms));
    now += 1ms;
    for (int i = 0; i < 300; ++i) {
      const nanoseconds wait{static_cast<std::int64_t>(random() % 500'000'000)};
      const auto out = static_cast<std::int64_t>(random() % 3'000'000);
      const auto before = estimate.at(boot(now));
      const nanoseconds b2 = now + wait + 3ms;
      estimate.on_round_trip(boot(now + wait), database(now + wait + nanoseconds{out}), boot(b2));
      const nanoseconds gained = (estimate.at(boot(b2)) - before) - (b2 - now);
      BOOST_REQUIRE(gained <= (b2 - now) / 1'000 + 1ns);
      now = b2;
    }
  }
}

BOOST_AUTO_TEST_CASE(a_set_clock_is_a_step_and_small_disagreement_is_none) {
  clock_estimate estimate;
  estimate.on_round_trip(boot(1s), database(1s), boot(1s + 200us));
  BOOST_CHECK(!estimate.on_round_trip(boot(2s), database(2s + 4ms), boot(2s + 200us)));
  const auto step = estimate.on_round_trip(boot(3s), database(3s - 1h), boot(3s + 200us));
  BOOST_REQUIRE(step);
  BOOST_CHECK(step->by < -59min && step->by > -61min);
  BOOST_CHECK(estimate.at(boot(3s + 100us)) - database(3s - 1h) < 1ms);
}

BOOST_AUTO_TEST_CASE(a_bad_first_reading_is_put_right_at_once) {
  clock_estimate estimate;
  estimate.on_round_trip(boot(1s), database(1s), boot(1s + 400ms)); // 200 ms behind
  BOOST_CHECK(!estimate.is_good(boot(1s + 400ms)));
  estimate.on_round_trip(boot(2s), database(2s + 50us), boot(2s + 100us));
  BOOST_CHECK(estimate.is_good(boot(2s + 100us)));
}

BOOST_AUTO_TEST_CASE(boot_at_is_the_inverse_of_at) {
  std::mt19937_64 random(7);
  clock_estimate estimate;
  estimate.on_round_trip(boot(1s), database(1s), boot(1s + 100us));
  estimate.on_round_trip(boot(2s), database(2s + 3ms), boot(2s + 100us)); // slews for 3 s
  for (int i = 0; i < 10'000; ++i) {
    const boot_instant when =
        boot(2s + 100us + nanoseconds{static_cast<std::int64_t>(random() % 6'000'000'000)});
    const boot_instant found = estimate.boot_at(estimate.at(when));
    BOOST_REQUIRE(found <= when && when - found <= 1ns);
    BOOST_REQUIRE(estimate.at(found) >= estimate.at(when));
  }
}

BOOST_AUTO_TEST_SUITE_END()
