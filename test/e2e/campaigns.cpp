/// Campaigns through the command line while a node sends them.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <string>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

constexpr double target = 200;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// A node that is sending a campaign of 500.
struct busy_installation : installation {
  busy_installation() : node(serve()), campaign(send(500)) {
    node->wait_until("so many are sent", [this] { return sent() >= 100; });
  }

  /// Runs `paceline campaigns COMMAND`; when it had answered, on the ledger's clock.
  std::int64_t change(const std::string& command) {
    must_run({"campaigns", command, std::to_string(campaign)});
    return now_ns();
  }

  void finish(std::int64_t which) {
    node->wait_until("a campaign finishes", [this, which] { return is_over(which); });
  }

  /// Calls of the campaign that started after `moment`.
  long started_after(std::int64_t moment) {
    const auto lines = only(
        ledger(), ids("SELECT id FROM message_states WHERE stream = " + std::to_string(campaign)));
    return std::count_if(lines.begin(), lines.end(),
                         [moment](const ledger_line& line) { return line.started_ns > moment; });
  }

  /// Sends another campaign to its end: meanwhile nothing of ours may start.
  void send_another() {
    const auto other = send({"x@example.org", "y@example.org", "z@example.org"});
    finish(other);
    BOOST_TEST(states_of(other) == "accepted=3");
  }

  std::unique_ptr<served_node> node;
  std::int64_t campaign;
};

} // namespace

BOOST_AUTO_TEST_SUITE(campaigns)

BOOST_AUTO_TEST_CASE(a_small_campaign_is_sent_to_everybody_once_and_send_waits_for_it) {
  installation home{{"simulator.rate=1000"}};
  auto node = home.serve();
  const auto end = home.run(home.send_command(installation::addresses(1000), {"--wait"}));
  BOOST_TEST(end.status == 0, end.output << end.errors);
  BOOST_TEST(home.ask("SELECT count(*) FROM message_states WHERE status = 3") == "1000");
  BOOST_TEST(home.broken() == "");
  BOOST_TEST(excess(home.ledger(), 1000) <= 0);
}

BOOST_AUTO_TEST_CASE(send_exits_with_1_where_somebody_s_outcome_is_unknown) {
  installation home;
  auto node = home.serve();
  const auto end =
      home.run(home.send_command({"a@example.com", "error@simulator.paceline.test"}, {"--wait"}));
  BOOST_TEST(end.status == 1, end.output << end.errors);
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(nothing_starts_after_a_pause_is_answered_and_a_resume_finishes) {
  busy_installation home;
  const auto answered = home.change("pause");
  home.send_another();
  BOOST_TEST(home.started_after(answered) == 0);
  BOOST_TEST(home.state_of(home.campaign) == "paused");
  BOOST_TEST(home.holds("NOT EXISTS (SELECT FROM message_states WHERE status IN (1, 2))"));
  BOOST_TEST(home.broken() == "");
  home.change("resume");
  home.finish(home.campaign);
  BOOST_TEST(home.states_of(home.campaign) == "accepted=500");
  BOOST_TEST(home.broken() == "");
  BOOST_TEST(excess(home.ledger(), target) <= 0);
}

BOOST_AUTO_TEST_CASE(nothing_starts_after_a_cancel_is_answered_and_the_rest_is_canceled) {
  busy_installation home;
  const auto answered = home.change("cancel");
  home.send_another();
  home.finish(home.campaign);
  BOOST_TEST(home.started_after(answered) == 0);
  const auto accepted = home.count("SELECT count(*) FROM message_states WHERE status = 3") - 3;
  BOOST_TEST(home.states_of(home.campaign)
             == "accepted=" + std::to_string(accepted)
                    + " canceled=" + std::to_string(500 - accepted));
  BOOST_TEST(home.state_of(home.campaign) == "canceled");
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_paused_campaign_can_be_canceled) {
  busy_installation home;
  home.change("pause");
  const auto answered = home.change("cancel");
  home.finish(home.campaign);
  BOOST_TEST(home.started_after(answered) == 0);
  BOOST_TEST(home.broken() == "");
  BOOST_TEST(home.run({"campaigns", "resume", std::to_string(home.campaign)}).status == 1);
}

BOOST_AUTO_TEST_CASE(at_a_low_rate_a_canceled_campaign_makes_way_at_once) {
  installation home{{R"(routes."test:sim".target_rate=2)"}};
  auto node = home.serve();
  const auto campaign = home.send(1000);
  node->wait_until("some are sent", [&] { return home.sent() >= 3; });
  home.must_run({"campaigns", "cancel", std::to_string(campaign)});
  const auto before = home.sent();
  const auto next = home.send({"x@example.org", "y@example.org"});
  node->wait_until("the next finishes", [&] { return home.is_over(next); });
  BOOST_TEST(home.sent() == before + 2);
  BOOST_TEST(home.is_over(campaign));
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_suppression_during_the_run_counts_for_what_is_not_claimed_yet) {
  busy_installation home;
  home.must_run({"suppressions", "add", "r499@example.com", "R500@Example.com"});
  home.finish(home.campaign);
  BOOST_TEST(home.states_of(home.campaign) == "accepted=498 suppressed=2");
  BOOST_TEST(home.ask("SELECT string_agg(m.recipients[1], ' ' ORDER BY m.ordinal)"
                      " FROM messages m JOIN message_states s USING (id) WHERE s.status = 10")
             == "r499@example.com r500@example.com");
  BOOST_TEST(home.sent() == 498u);
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
