/// SIGTERM under load: what has not started stays queued, what has started is recorded.
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>

#include "test/support/installation.hpp"

namespace paceline::test {

BOOST_AUTO_TEST_SUITE(stopping)

BOOST_AUTO_TEST_CASE(a_node_stopped_under_load_leaves_nothing_in_doubt) {
  installation home;
  const auto campaign = home.send(700);
  for (std::size_t sent : {100u, 300u, 500u}) {
    auto node = home.serve();
    node->wait_until("so many are sent", [&] { return home.sent() >= sent; });
    BOOST_TEST(node->terminate() == 0);
    BOOST_TEST(node->logged("nothing is in doubt") == 1);
    BOOST_TEST(home.ask("SELECT count(*) FROM message_states WHERE status IN (1, 2)") == "0");
    BOOST_TEST(home.ask("SELECT count(*) FROM message_states WHERE status = 3")
               == std::to_string(home.sent()));
    BOOST_TEST(home.ask("SELECT count(*) FROM shards WHERE owner IS NOT NULL") == "0");
    BOOST_TEST(home.broken() == "");
  }
  auto node = home.serve();
  node->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
  BOOST_TEST(home.states_of(campaign) == "accepted=700");
  BOOST_TEST(home.broken() == "");
  BOOST_TEST(excess(home.ledger(), 200, std::chrono::milliseconds{1}) <= 0);
}

BOOST_AUTO_TEST_CASE(a_node_stopped_while_the_provider_is_slow_waits_for_its_answers) {
  installation home{{"simulator.latency_ms=400", "simulator.latency_jitter=0"}};
  home.send(400);
  auto node = home.serve();
  node->wait_until("so many are sent", [&] { return home.sent() >= 100; });
  BOOST_TEST(node->terminate() == 0);
  BOOST_TEST(home.ask("SELECT count(*) FROM message_states WHERE status IN (1, 2)") == "0");
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_second_signal_ends_a_drain_and_what_is_on_the_wire_becomes_unknown) {
  installation home{{"dispatch.call_timeout_ms=3000", "dispatch.interrupted_after_ms=4100"}};
  const auto campaign =
      home.send({"hang@simulator.paceline.test", "success@simulator.paceline.test"});
  auto node = home.serve();
  node->wait_until("both are sent", [&] { return home.sent() == 2; });
  node->signal(SIGTERM);
  node->wait_until("it drains", [&] { return node->logged("draining") == 1; });
  BOOST_TEST(node->terminate() == 1);
  BOOST_TEST(home.broken() == "");
  node = home.serve();
  node->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
  BOOST_TEST(home.states_of(campaign).starts_with("acceptance_unknown="));
  BOOST_TEST(home.sent() == 2u);
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
