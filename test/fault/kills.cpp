/// kill -9 while calls are on the wire, at seeded moments. What the tables say then decides: what
/// was attempting becomes unknown, everything else is sent, once.
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstdlib>
#include <random>
#include <string>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

constexpr int shards = 4;
constexpr double target = 200;
constexpr int recipients = 150;
/// A claim covers 50 ms of a shard's slots here; one is ahead while the last is being sent.
constexpr int group_bound = 2 * 3;
/// A call lasts 60 ms and waits 20 ms for its record; a crowded disk may take the rest of 600 ms.
constexpr int flight_bound = static_cast<int>(target / shards * 0.6);

class killed_node {
public:
  killed_node() : node_(home_.serve()) {}

  /// One campaign, one kill `after` the start of so many of its calls, one restart that finishes
  /// it.
  void play(std::size_t calls, std::chrono::microseconds after) {
    const auto moment = home_.sent() + calls;
    const auto campaign = home_.send(recipients);
    node_->wait_until("so many are sent", [&] { return home_.sent() >= moment; });
    hold_fault_for(after);
    node_->kill();
    home_.wait_until_no_node_is_connected();

    const auto in_doubt = home_.ids("SELECT id FROM message_states WHERE status = 1");
    const auto at_kill = home_.ledger();
    BOOST_TEST(in_doubt.size() <= std::size_t{shards * (group_bound + flight_bound)});
    BOOST_TEST(home_.broken() == "");

    node_ = home_.serve();
    node_->wait_until("the campaign finishes", [&] { return home_.is_over(campaign); });
    BOOST_TEST(home_.state_of(campaign) == "finished");
    check_end(campaign, in_doubt, at_kill);
  }

  void check_end(std::int64_t campaign, const std::set<std::int64_t>& in_doubt,
                 const std::vector<ledger_line>& at_kill) {
    const auto of_campaign = " AND stream = " + std::to_string(campaign);
    const auto unknown = home_.ids("SELECT id FROM message_states WHERE status = 2" + of_campaign);
    BOOST_TEST(unknown == in_doubt, boost::test_tools::per_element());
    BOOST_TEST(home_.count("SELECT count(*) FROM message_states WHERE status = 3" + of_campaign)
               == recipients - static_cast<int>(in_doubt.size()));
    BOOST_TEST(home_.broken() == "");
    const auto lines = home_.ledger();
    // What was in doubt is never handed over after the kill.
    BOOST_TEST(only(lines, in_doubt).size() == only(at_kill, in_doubt).size());
    BOOST_TEST(excess(lines, target, std::chrono::milliseconds{1}) <= 0);
  }

  installation& home() { return home_; }

private:
  installation home_{{"dispatch.call_timeout_ms=400", "dispatch.interrupted_after_ms=1500",
                      "dispatch.group_window_ms=50", "recording.delay_ms=20"}};
  std::unique_ptr<served_node> node_;
};

void play_kills(std::uint64_t seed, int times) {
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937_64 random{seed};
  killed_node world;
  for (int i = 0; i < times; ++i) {
    const std::size_t calls = 1 + random() % (recipients - 20);
    const std::chrono::microseconds after{static_cast<long>(random() % 20'000)};
    BOOST_TEST_CONTEXT("kill " << i << ", " << after.count() << " us after start " << calls)
    world.play(calls, after);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(kills)

BOOST_AUTO_TEST_CASE(a_killed_node_loses_nothing_and_sends_nothing_twice) {
  play_kills(20260701, 10);
}

BOOST_AUTO_TEST_CASE(a_limit_of_one_per_interval_holds_across_a_kill) {
  installation home{{R"(routes."test:sim".target_rate=3)", "dispatch.call_timeout_ms=400",
                     "dispatch.interrupted_after_ms=1500"}};
  auto node = home.serve();
  const auto campaign = home.send(9);
  node->wait_until("some are sent", [&] { return home.sent() >= 4; });
  node->kill();
  node = home.serve();
  node->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
  const std::chrono::nanoseconds interval{1'000'000'000 / 3};
  BOOST_TEST(most_within(home.ledger(), interval - std::chrono::milliseconds{55}) == 1);
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_killed_node_loses_nothing_at_many_more_moments,
                     *boost::unit_test::label("long")) {
  const char* given = std::getenv("PACELINE_TEST_SEED");
  const auto seed = given ? std::stoull(given) : std::random_device{}();
  play_kills(seed, 60);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
