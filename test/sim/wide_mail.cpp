// Mail to several recipients on routes of several shards, against a provider that refuses what it
// can't take at once: the shards' wide messages must not start next to each other.

#include <array>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string>

#include <boost/test/unit_test.hpp>

#include "test/sim/route_world.hpp"
#include "test/sim/starts.hpp"

using namespace paceline;
using namespace paceline::sim;
using namespace std::chrono_literals;

namespace {

constexpr std::array targets{14.0, 50.0, 100.0, 200.0, 500.0};
constexpr std::array counts{1, 2, 4, 8};
constexpr int seconds = 300;

plan strict_plan(const cost_mix& mix, std::int32_t shards, double target, nanoseconds lead) {
  plan made;
  made.seed = 20'240'801;
  made.shards = shards;
  made.target = rate::per_second(target);
  made.length = std::chrono::seconds{seconds};
  made.mix = mix;
  made.provider = strict_provider{made.target};
  made.provider->lead = lead;
  return made;
}

struct mail {
  const char* name;
  cost_mix mix;
};

/// Per cent of the target for each count of shards, and how often the route was braked.
std::string row_of(const mail& kind, double target, nanoseconds lead) {
  std::ostringstream row;
  row << std::fixed << std::setprecision(1) << std::setw(12) << kind.name << std::setw(6)
      << std::setprecision(0) << target << "/s" << std::setprecision(1);
  for (const std::int32_t shards : counts) {
    route_world world(strict_plan(kind.mix, shards, target, lead));
    const auto& starts = world.run();
    BOOST_CHECK_LE(worst_excess(world, starts, 0ns), 1e-6);
    const double mean = static_cast<double>(recipients_of(starts)) / seconds;
    row << " | " << std::setw(5) << 100 * mean / target << " (" << std::setw(3) << world.brakes()
        << ')';
  }
  return row.str();
}

} // namespace

BOOST_AUTO_TEST_CASE(wide_messages_of_one_size_take_turns_and_reach_the_target_unrefused) {
  for (const std::int32_t cost : {5, 10, 50}) {
    for (const double target : targets) {
      for (const std::int32_t shards : counts) {
        route_world world(strict_plan({100, cost, cost}, shards, target, grid_lead));
        const auto& starts = world.run();
        const auto what = std::to_string(cost) + " recipients, " + std::to_string(shards)
                          + " shards, " + std::to_string(target) + "/s";
        BOOST_CHECK_MESSAGE(world.brakes() == 0, what << ": " << world.brakes() << " brakes");
        // Each shard's first turn comes after half of `cost` own slots in the mean, and its last
        // message may be under way.
        const double allowed = shards * cost / 2.0 + cost;
        const double got = static_cast<double>(recipients_of(starts)) + allowed;
        BOOST_CHECK_MESSAGE(got >= 0.995 * seconds * target, what << ": " << got / seconds);
        BOOST_CHECK_LE(worst_excess(world, starts, 0ns), 1e-6);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(turns_are_found_again_after_late_claims_and_stalls) {
  for (const bool is_slow : {true, false}) {
    for (const std::int32_t shards : {2, 4, 8}) {
      plan p = strict_plan({100, 10, 10}, shards, 100, grid_lead);
      p.bad.slow_claims = is_slow;
      p.bad.stalls = !is_slow;
      route_world world(p);
      const auto& starts = world.run();
      // A shard that a stall kept from starting for seconds may come back beside another.
      BOOST_CHECK_LE(world.brakes(), 3);
      BOOST_CHECK_LE(worst_excess(world, starts, 0ns), 1e-6);
    }
  }
}

// Known limit: messages of different sizes drift out of turn, and a route of several shards is
// braked again and again by a provider as strict as this. Only promise 3 is checked here; the means
// are printed, for a cluster and for a route that one node runs alone.
BOOST_AUTO_TEST_CASE(wide_messages_of_different_sizes_keep_within_the_promise_while_braked) {
  constexpr mail kinds[] = {{"1 to 10", {100, 1, 10}}, {"1, some 10", {10, 10, 10}}};
  for (const nanoseconds lead : {nanoseconds{grid_lead}, nanoseconds{100ms}}) {
    BOOST_TEST_MESSAGE("a brake silences for " << lead.count() / 1'000'000 << " ms; per cent of "
                                               << "the target (brakes) with 1, 2, 4, 8 shards");
    for (const mail& kind : kinds)
      for (const double target : targets) {
        const std::string row = row_of(kind, target, lead);
        BOOST_TEST_MESSAGE(row);
      }
  }
}
