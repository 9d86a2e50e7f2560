/// What the provider may answer, and what a user sees of it.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

const std::string at_simulator = "@simulator.paceline.test";

/// The newest message to this recipient of the simulator.
struct message_seen {
  std::string id, status, version, resend_of;
};

message_seen look(installation& home, const std::string& recipient) {
  const auto value = [&](const std::string& column) {
    return home.ask("SELECT " + column
                    + " FROM message_states s JOIN messages m USING (id)"
                      " WHERE m.recipients[1] = '"
                    + recipient + at_simulator + "' ORDER BY id DESC LIMIT 1");
  };
  return {value("id"), value("status"), value("version"), value("resend_of")};
}

constexpr const char* accepted = "3";
constexpr const char* rejected = "8";
constexpr const char* unknown = "2";

struct mixed_campaign : installation {
  mixed_campaign() : installation({"dispatch.brake_ms=1000"}), node(serve()) {
    auto recipients = addresses(40);
    for (const char* special :
         {"once-throttle", "reject", "error", "timeout", "disconnect", "success"})
      recipients.push_back(special + at_simulator);
    campaign = send(recipients);
    node->wait_until("the campaign finishes", [this] { return is_over(campaign); });
  }

  void resolve(const message_seen& message, const std::string& as) {
    must_run({"messages", "resolve", message.id, "--as", as});
  }

  std::unique_ptr<served_node> node;
  std::int64_t campaign = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(outcomes)

BOOST_AUTO_TEST_CASE(each_answer_of_the_provider_ends_as_it_should_and_unknown_is_resolved) {
  mixed_campaign home;
  BOOST_TEST(home.states_of(home.campaign) == "acceptance_unknown=3 accepted=42 rejected=1");
  BOOST_TEST(look(home, "once-throttle").status == accepted);
  BOOST_TEST(std::stoi(look(home, "once-throttle").version) >= 1);
  BOOST_TEST(look(home, "reject").status == rejected);
  BOOST_TEST(home.broken() == "");

  const auto error = look(home, "error"), timeout = look(home, "timeout"),
             disconnect = look(home, "disconnect");
  BOOST_TEST(error.status == unknown);
  BOOST_TEST(timeout.status == unknown);
  BOOST_TEST(disconnect.status == unknown);
  home.resolve(error, "accepted");
  home.resolve(timeout, "rejected");
  home.resolve(disconnect, "send-again");
  BOOST_TEST(look(home, "error").status == accepted);
  BOOST_TEST(look(home, "timeout").status == rejected);
  home.node->wait_until("it is sent again", [&] { return home.sent() == 46; });
  home.node->wait_until("its outcome is known",
                        [&] { return look(home, "disconnect").status == unknown; });
  BOOST_TEST(look(home, "disconnect").resend_of == disconnect.id);
  BOOST_TEST(home.states_of(home.campaign) == "accepted=43 rejected=3");
  BOOST_TEST(home.state_of(home.campaign) == "finished");
  BOOST_TEST(home.broken() == "");
  const auto again = home.run({"messages", "resolve", error.id, "--as", "rejected"});
  BOOST_TEST(again.status == 1, again.output << again.errors);
}

BOOST_AUTO_TEST_CASE(beyond_the_daily_quota_messages_wait_and_none_is_refused) {
  installation home{{"simulator.daily_quota=100"}};
  auto node = home.serve();
  const auto campaign = home.send(150);
  node->wait_until("the quota is used up and the route waits", [&] {
    return home.holds("(SELECT state = 'waiting' FROM routes)"
                      " AND (SELECT count(*) FROM message_states WHERE status = 3) = 100"
                      " AND NOT EXISTS (SELECT FROM message_states WHERE status = 1)");
  });
  BOOST_TEST(home.states_of(campaign) == "queued=50 accepted=100");
  BOOST_TEST(home.sent() == 100u);
  BOOST_TEST(home.state_of(campaign) == "sending");
  BOOST_TEST(home.must_run({"status"}).find("waiting") != std::string::npos);
  BOOST_TEST(node->terminate() == 0);
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_paused_account_stops_the_route_with_a_reason_and_messages_stay) {
  installation home;
  auto node = home.serve();
  auto recipients = installation::addresses(200);
  recipients.insert(recipients.begin() + 20, "paused" + at_simulator);
  const auto campaign = home.send(recipients);
  node->wait_until("the route stops", [&] {
    return home.holds("(SELECT state = 'stopped' FROM routes)"
                      " AND NOT EXISTS (SELECT FROM message_states WHERE status = 1)");
  });
  const auto sent = home.sent();
  BOOST_TEST(home.states_of(campaign)
             == "queued=" + std::to_string(201 - sent) + " accepted=" + std::to_string(sent));
  BOOST_TEST(sent < 200u);
  const auto status = home.must_run({"status"});
  BOOST_TEST(status.find("test:sim is stopped: the provider refuses to send") != std::string::npos,
             status);
  BOOST_TEST(node->terminate() == 0);
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_single_message_is_sent_and_shown) {
  installation home;
  auto node = home.serve();
  const auto end = home.run({"send", "--route", "test:sim", "--from", "shop@example.com", "--to",
                             "anna@example.com", "--subject", "Order {{number}}", "--text",
                             "It is on its way.", "--field", "number=17", "--wait"});
  BOOST_TEST(end.status == 0, end.output << end.errors);
  BOOST_TEST(home.must_run({"messages", "list", "--status", "accepted"}).find("accepted")
             != std::string::npos);
  BOOST_TEST(home.sent() == 1u);
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_route_that_is_refused_again_and_again_goes_on_at_what_is_allowed) {
  // Factor 1: the raw quota is the target already, so a brake changes nothing but the grid.
  installation home{{"simulator.rate=50"}};
  auto recipients = home.addresses(150);
  recipients.insert(recipients.begin(), "throttle" + at_simulator);
  const auto node = home.serve();
  const auto campaign = home.send(recipients);
  node->wait_until("everybody else has it", [&] { return home.sent() == 150; });
  node->wait_until("it was refused twice", [&] {
    return home.count("SELECT throttles FROM message_states s JOIN messages m USING (id)"
                      " WHERE m.recipients[1] LIKE 'throttle%'")
           >= 2;
  });
  const auto after = home.send(20);
  node->wait_until("the next campaign leaves all the same", [&] { return home.is_over(after); });
  home.must_run({"campaigns", "cancel", std::to_string(campaign)});
  node->wait_until("nothing is open", [&] {
    return home.holds("(SELECT sum(open) FROM counters WHERE stream = " + std::to_string(campaign)
                      + ") = 0");
  });
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(more_contents_than_a_shard_keeps_are_all_sent) {
  installation home{{"simulator.rate=500", "simulator.latency_ms=10"}};
  const int messages = 90;
  for (int i = 0; i < messages; ++i)
    home.must_run({"send", "--route", "test:sim", "--to", "r" + std::to_string(i) + "@example.com",
                   "--from", "shop@example.com", "--subject", "Order " + std::to_string(i),
                   "--text", "On its way."});
  const auto node = home.serve();
  node->wait_until("all have left", [&] { return home.sent() == messages; });
  BOOST_TEST(home.count("SELECT count(*) FROM message_states WHERE version > 0") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
