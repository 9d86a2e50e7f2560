/// Two nodes on one route: one rate, one owner at a time, and a stale one is harmless.
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

constexpr double target = 200;
/// Two nodes estimate the database's time, each from its own round trips.
constexpr std::chrono::milliseconds clock_error{1};

std::size_t sent_by(const installation& home, const std::string& node) {
  std::size_t lines = 0;
  for (const auto& line : home.ledger())
    lines += line.node == node ? 1 : 0;
  return lines;
}

bool owns_all(installation& home, const std::string& node) {
  return home.holds("(SELECT count(*) FROM shards s JOIN nodes n ON n.id = s.owner"
                    " WHERE n.name = '"
                    + node + "') = 4");
}

class pair_of_nodes {
public:
  pair_of_nodes() {
    first = home.serve("first");
    first->wait_until("it owns the route", [this] { return owns_all(home, "first"); });
    second = home.serve("second");
  }

  void sent(std::size_t lines) {
    first->wait_until("so many are sent", [this, lines] { return home.sent() >= lines; });
  }

  void finish(std::int64_t campaign, int recipients) {
    second->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
    const auto unknown = home.count("SELECT count(*) FROM message_states WHERE status = 2");
    const auto accepted = home.count("SELECT count(*) FROM message_states WHERE status = 3");
    BOOST_TEST(unknown + accepted == recipients);
    BOOST_TEST(home.broken() == "");
    BOOST_TEST(excess(home.ledger(), target, clock_error) <= 0);
  }

  installation home;
  std::unique_ptr<served_node> first, second;
};

} // namespace

BOOST_AUTO_TEST_SUITE(two_nodes)

BOOST_AUTO_TEST_CASE(the_second_node_waits_and_does_not_double_the_rate) {
  pair_of_nodes pair;
  const auto campaign = pair.home.send(500);
  pair.finish(campaign, 500);
  BOOST_TEST(owns_all(pair.home, "first"));
  BOOST_TEST(sent_by(pair.home, "first") == 500u);
  BOOST_TEST(pair.home.states_of(campaign) == "accepted=500");
}

BOOST_AUTO_TEST_CASE(two_nodes_started_at_once_share_the_rate_of_one) {
  installation home;
  auto first = home.start("first");
  auto second = home.start("second");
  const auto campaign = home.send(500);
  first->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
  BOOST_TEST(home.states_of(campaign) == "accepted=500");
  BOOST_TEST(home.broken() == "");
  BOOST_TEST(excess(home.ledger(), target, clock_error) <= 0);
}

BOOST_AUTO_TEST_CASE(the_second_node_takes_over_from_a_killed_one_and_finishes) {
  pair_of_nodes pair;
  const auto campaign = pair.home.send(500);
  pair.sent(150);
  const auto epochs = pair.home.ids("SELECT epoch FROM shards");
  pair.first->kill();
  pair.finish(campaign, 500);
  for (auto epoch : pair.home.ids("SELECT epoch FROM message_states WHERE status = 2"))
    BOOST_TEST(epochs.contains(epoch));
  BOOST_TEST(owns_all(pair.home, "second"));
}

BOOST_AUTO_TEST_CASE(the_second_node_takes_over_at_once_from_one_that_stops) {
  pair_of_nodes pair;
  const auto campaign = pair.home.send(500);
  pair.sent(150);
  BOOST_TEST(pair.first->terminate() == 0);
  pair.finish(campaign, 500);
  BOOST_TEST(pair.home.states_of(campaign) == "accepted=500");
  BOOST_TEST(owns_all(pair.home, "second"));
}

BOOST_AUTO_TEST_CASE(a_frozen_node_starts_nothing_after_the_takeover) {
  pair_of_nodes pair;
  const auto campaign = pair.home.send(700);
  pair.sent(150);
  pair.first->signal(SIGSTOP);
  pair.second->wait_until("it owns the route", [&] { return owns_all(pair.home, "second"); });
  pair.second->wait_until("it sends", [&] { return sent_by(pair.home, "second") > 50; });
  const auto by_first = sent_by(pair.home, "first");
  pair.first->signal(SIGCONT);
  pair.first->wait_until("it knows",
                         [&] { return pair.first->logged("taken over by another node") == 4; });
  pair.finish(campaign, 700);
  BOOST_TEST(sent_by(pair.home, "first") == by_first);
  BOOST_TEST(pair.first->terminate() == 0);
  BOOST_TEST(pair.second->terminate() == 0);
  BOOST_TEST(pair.home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_node_frozen_for_less_than_its_lease_goes_on) {
  pair_of_nodes pair;
  const auto campaign = pair.home.send(400);
  for (std::size_t lines : {100u, 200u, 300u}) {
    pair.sent(lines);
    pair.first->signal(SIGSTOP);
    hold_fault_for(std::chrono::milliseconds{300});
    pair.first->signal(SIGCONT);
  }
  pair.finish(campaign, 400);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
