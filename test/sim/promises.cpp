// Promises 3 (never too fast) and 4 (never too slow) on a whole route, over random histories.
// PACELINE_SEED chooses the first seed; it and the digest are printed.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include <boost/test/unit_test.hpp>

#include "test/sim/route_world.hpp"
#include "test/sim/starts.hpp"

using namespace paceline;
using namespace paceline::sim;
using namespace std::chrono_literals;

namespace {

std::uint64_t first_seed() {
  const char* text = std::getenv("PACELINE_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20'240'801;
}

/// Long enough to see some rounds, short enough to be quick.
nanoseconds fitting_length(rate target, std::int32_t shards) {
  const double seconds = std::clamp(20'000.0 / target.per_second(), 8.0, 600.0);
  return nanoseconds{static_cast<std::int64_t>(seconds / (shards > 50 ? 2 : 1) * 1e9)};
}

plan random_plan(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr std::array counts{1, 2, 3, 4, 7, 16, 64, 200};
  constexpr std::array targets{20, 333, 1'000, 14'000, 22'000, 100'000, 777'777, 5'000'000};
  plan made;
  made.seed = seed;
  made.shards = counts[random() % counts.size()];
  made.target = rate::from_millihertz(targets[random() % targets.size()]);
  made.length = fitting_length(made.target, made.shards);
  made.largest_cost = random() % 2 == 0 ? 1 : 50;
  made.bad.stalls = random() % 2 == 0;
  made.bad.takeovers = random() % 2 == 0;
  made.bad.resharding = random() % 3 == 0;
  made.bad.new_targets = random() % 2 == 0;
  made.bad.brakes = random() % 3 == 0;
  made.bad.late_starts = random() % 2 == 0;
  made.bad.latest_starts = random() % 3 == 0;
  made.bad.slow_claims = random() % 3 == 0;
  made.bad.clock_error = random() % 2 == 0 ? 0ns : 3ms;
  return made;
}

std::string describe(const plan& p) {
  return "seed " + std::to_string(p.seed) + ", " + std::to_string(p.shards) + " shards, "
         + std::to_string(p.target.per_second()) + "/s, cost " + std::to_string(p.largest_cost)
         + (p.bad.stalls ? " stalls" : "") + (p.bad.takeovers ? " takeovers" : "")
         + (p.bad.resharding ? " resharding" : "") + (p.bad.new_targets ? " new targets" : "")
         + (p.bad.brakes ? " brakes" : "") + (p.bad.late_starts ? " late" : "")
         + (p.bad.latest_starts ? " latest" : "") + (p.bad.slow_claims ? " slow claims" : "")
         + (p.bad.clock_error > 0ns ? " clocks off" : "");
}

} // namespace

BOOST_AUTO_TEST_CASE(no_sliding_second_exceeds_the_promise_whatever_happens) {
  const std::uint64_t seed = first_seed();
  std::uint64_t digest = 0;
  std::size_t total = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const plan p = random_plan(seed + i);
    route_world world(p);
    const auto& starts = world.run();
    const double excess = worst_excess(world, starts, p.bad.clock_error);
    BOOST_CHECK_MESSAGE(excess <= 1e-6, describe(p) << ": " << excess << " too many");
    digest = digest * 31 + world.digest();
    total += starts.size();
  }
  BOOST_TEST_MESSAGE("seed " << seed << ", " << total << " starts, digest " << digest);
  BOOST_CHECK_GT(total, 100'000u);
}

BOOST_AUTO_TEST_CASE(a_target_that_falls_steeply_is_obeyed_at_once_also_by_late_shards) {
  const std::uint64_t seed = first_seed();
  for (std::uint64_t i = 0; i < 24; ++i) {
    plan p{seed + i, i % 2 == 0 ? 4 : 16, rate::from_millihertz(2'000'000), 30s, 1, {}};
    p.bad.new_targets = p.bad.latest_starts = p.bad.slow_claims = p.bad.stalls = true;
    p.bad.brakes = i % 3 == 0;
    route_world world(p);
    const auto& starts = world.run();
    const double excess = worst_excess(world, starts, 0ns);
    BOOST_CHECK_MESSAGE(excess <= 1e-6, describe(p) << ": " << excess << " too many");
  }
}

BOOST_AUTO_TEST_CASE(the_mean_reaches_the_target_while_there_is_backlog) {
  const std::uint64_t seed = first_seed();
  for (const std::int32_t shards : {1, 4, 37, 200}) {
    for (const std::int64_t millihertz : {20, 1'000, 22'000, 100'000, 1'000'000, 5'000'000}) {
      plan p;
      p.seed = seed + static_cast<std::uint64_t>(shards + millihertz);
      p.shards = shards;
      p.target = rate::from_millihertz(millihertz);
      p.length =
          nanoseconds{std::max<std::int64_t>(10'000'000'000, 400'000'000'000'000 / millihertz)};
      route_world world(p);
      const auto& starts = world.run();
      const double got = static_cast<double>(recipients_of(starts));
      const double seconds = static_cast<double>(p.length.count()) * 1e-9;
      // One slot at the end may still be under way.
      BOOST_CHECK_MESSAGE(got + 1 >= 0.995 * seconds * p.target.per_second(),
                          describe(p) << ": " << got / seconds);
      BOOST_CHECK_LE(worst_excess(world, starts, 0ns), 1e-6);
    }
  }
}

BOOST_AUTO_TEST_CASE(messages_to_many_recipients_reach_the_target_too) {
  plan p{first_seed(), 4, rate::from_millihertz(200'000), 120s, 50, {}};
  route_world world(p);
  const auto& starts = world.run();
  const double got = static_cast<double>(recipients_of(starts));
  BOOST_CHECK_GE(got, 0.995 * 120 * 200 - 4 * 50);
  BOOST_CHECK_LE(worst_excess(world, starts, 0ns), 1e-6);
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_history) {
  const plan p = random_plan(first_seed() + 7);
  route_world one(p);
  route_world two(p);
  one.run();
  two.run();
  BOOST_CHECK_EQUAL(one.digest(), two.digest());
}
