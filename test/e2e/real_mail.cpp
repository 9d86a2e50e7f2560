/// Mail through real providers: what the stand-ins got, and what a user sees when they fail.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/support/installation.hpp"
#include "test/support/simulator.hpp"

namespace paceline::test {
namespace {

const std::string at_simulator = "@simulator.paceline.test";

using texts = std::vector<std::string>;

texts joined(texts first, const texts& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// A live environment with one route to the stand-in, which must outlive it.
class live_site : public installation {
public:
  live_site(const simulator& to, const std::string& provider, const texts& more = {},
            bool migrated = true)
      : installation(joined(settings_for(to, provider), more), migrated) {}

  /// A campaign from a sender that the stand-in knows.
  std::int64_t campaign(const texts& recipients, const texts& more = {}) const {
    std::string csv = "email,name\n";
    for (const auto& recipient : recipients)
      csv += recipient + ",Zoë\n";
    auto end = run(joined({"send", "--route", "live:eu", "--from", "News <news@example.com>",
                           "--subject", "Grüße, {{name}}", "--text", "Hello {{name}}", "--html",
                           "<p>Hello {{name}}</p>", "--csv", write("people.csv", csv), "--json"},
                          more));
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.output + end.errors);
    return newest_campaign();
  }
  std::int64_t newest_campaign() const {
    return std::stoll(const_cast<live_site*>(this)->ask("SELECT max(id) FROM campaigns"));
  }
  std::string shown(std::int64_t campaign) const {
    return must_run({"campaigns", "show", std::to_string(campaign)});
  }

private:
  static texts settings_for(const simulator& to, const std::string& provider) {
    const std::string route = "routes.\"live:eu\".";
    texts all{"environments.live.kind=live",
              "unsubscribe.base_url=https://mail.example.com",
              "unsubscribe.keys=0123456789abcdef0123456789abcdef",
              route + "provider=" + provider,
              route + "endpoint=" + to.endpoint(),
              route + "ca_file=" + to.ca_file(),
              route + "allow_private=true",
              route + "enable_live=true",
              route + "connect_timeout_ms=900",
              route + "shards=2"};
    if (provider == "ses")
      all = joined(all, {route + "aws_region=eu-central-1", route + "credentials=environment"});
    if (provider == "batch")
      all = joined(all, {route + "secret=re_stand_in"});
    if (provider == "smtp")
      all = joined(all, {route + "target_rate=100"});
    ::setenv("AWS_ACCESS_KEY_ID", simulator::access_key().c_str(), 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", simulator::secret_key().c_str(), 1);
    return all;
  }
};

/// Every message of the database that was accepted stands in the ledger, each once.
void check_ledger(live_site& home, const std::vector<ledger_line>& ledger) {
  std::map<std::int64_t, int> times;
  for (const auto& line : ledger)
    ++times[line.message];
  for (const auto& [message, count] : times)
    BOOST_TEST(count == 1, "message " << message << " was taken " << count << " times");
  for (const auto id : home.ids("SELECT id FROM message_states WHERE status = 3"))
    BOOST_TEST(times.contains(id), "accepted, but not in the ledger: " << id);
  BOOST_TEST(home.broken(ledger) == "");
}

} // namespace

BOOST_AUTO_TEST_SUITE(real_mail)

BOOST_AUTO_TEST_CASE(a_campaign_by_ses_reaches_everybody_once_with_all_its_headers) {
  simulator ses("ses", {"--rate", "200"});
  live_site home(ses, "ses");
  const auto node = home.serve();
  const auto id = home.campaign(installation::addresses(60));
  node->wait_until("the campaign finishes", [&] { return home.is_over(id); });
  BOOST_TEST(home.states_of(id) == "accepted=60");
  BOOST_TEST(ses.ledger().size() == 60u);
  check_ledger(home, ses.ledger());
  const auto message = std::stoll(home.ask("SELECT min(id) FROM messages"));
  const auto mail = ses.kept(message);
  for (const char* part :
       {"From: News <news@example.com>\r\n", "To: r1@example.com\r\n", "MIME-Version: 1.0\r\n",
        "List-Unsubscribe: <https://mail.example.com/unsubscribe/",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n", "\r\nDate: ", "Message-ID: <"})
    BOOST_TEST(mail.find(part) != std::string::npos, part << " is missing in\n" << mail);
  BOOST_TEST(std::all_of(mail.begin(), mail.end(), [](char c) { return (c & 0x80) == 0; }));
}

BOOST_AUTO_TEST_CASE(an_outage_leaves_few_unknown_and_everything_else_is_sent_afterwards) {
  simulator ses("ses", {"--rate", "100"});
  live_site home(ses, "ses");
  const auto node = home.serve();
  const auto id = home.campaign(installation::addresses(300));
  node->wait_until("it has begun", [&] { return ses.ledger().size() >= 50; });
  ses.control(R"({"fault":"500","for":"all"})");
  node->wait_until("the outage is noticed", [&] {
    return home.ask("SELECT state_reason FROM routes WHERE environment = 'live'") != "";
  });
  node->wait_until("it costs something", [&] {
    return home.count("SELECT count(*) FROM message_states WHERE status = 2") >= 5;
  });
  BOOST_TEST(home.shown(id).find("500") != std::string::npos, home.shown(id));
  ses.control(R"({"fault":"none"})");
  node->wait_until("the campaign finishes", [&] { return home.is_over(id); });
  const auto unknown = home.count("SELECT count(*) FROM message_states WHERE status = 2");
  // At 100/s with answers after 5 ms there are few in flight.
  BOOST_TEST(unknown <= 20 + 25);
  BOOST_TEST(home.count("SELECT count(*) FROM message_states WHERE status = 3") == 300 - unknown);
  BOOST_TEST(home.ask("SELECT state_reason FROM routes WHERE environment = 'live'") == "");
  check_ledger(home, ses.ledger());
}

BOOST_AUTO_TEST_CASE(a_sender_that_is_not_verified_pauses_the_campaign_and_nothing_is_lost) {
  simulator ses("ses", {"--rate", "100"});
  live_site home(ses, "ses");
  const auto node = home.serve();
  auto recipients = installation::addresses(30);
  recipients.push_back("unverified" + at_simulator);
  const auto id = home.campaign(recipients);
  node->wait_until("the campaign is paused", [&] { return home.state_of(id) == "paused"; });
  BOOST_TEST(home.shown(id).find("not verified") != std::string::npos, home.shown(id));
  home.must_run({"campaigns", "cancel", std::to_string(id)});
  node->wait_until("the campaign is canceled", [&] {
    return home.count("SELECT count(*) FROM message_states WHERE status IN (0, 1)") == 0;
  });
  check_ledger(home, ses.ledger());
}

BOOST_AUTO_TEST_CASE(wrong_keys_stop_the_route_with_a_reason_and_messages_stay) {
  simulator ses("ses", {"--secret-key", "another"});
  live_site home(ses, "ses");
  const auto node = home.serve();
  const auto id = home.campaign(installation::addresses(5));
  node->wait_until("somebody sees why", [&] {
    return home.shown(id).find("signature") != std::string::npos
           || home.shown(id).find("credentials") != std::string::npos;
  });
  BOOST_TEST(home.count("SELECT count(*) FROM message_states WHERE status = 0") == 5);
  home.must_run({"campaigns", "pause", std::to_string(id)});
  home.must_run({"campaigns", "cancel", std::to_string(id)});
  BOOST_TEST(ses.ledger().empty());
}

BOOST_AUTO_TEST_CASE(a_host_that_does_not_exist_is_said_and_the_campaign_can_be_canceled) {
  simulator ses("ses");
  live_site home(ses, "ses",
                 {"routes.\"live:eu\".endpoint=https://no-such-host.invalid",
                  "routes.\"live:eu\".target_rate=20"});
  const auto node = home.serve();
  const auto id = home.campaign(installation::addresses(20));
  node->wait_until("somebody sees why", [&] {
    return home.shown(id).find("no-such-host.invalid") != std::string::npos;
  });
  home.must_run({"campaigns", "pause", std::to_string(id)});
  home.must_run({"campaigns", "cancel", std::to_string(id)});
  node->wait_until("all are canceled", [&] { return home.states_of(id) == "canceled=20"; });
}

BOOST_AUTO_TEST_CASE(a_certificate_that_has_expired_stops_the_route_before_anything_is_written) {
  simulator ses("ses", {"--flaw", "expired"});
  live_site home(ses, "ses", {"routes.\"live:eu\".target_rate=20"});
  const auto node = home.serve();
  const auto id = home.campaign(installation::addresses(3));
  node->wait_until("somebody sees why",
                   [&] { return home.shown(id).find("certificate") != std::string::npos; });
  BOOST_TEST(ses.ledger().empty());
}

BOOST_AUTO_TEST_CASE(connections_that_close_after_the_request_was_read_make_nothing_twice) {
  simulator ses("ses", {"--rate", "200"});
  live_site home(ses, "ses");
  const auto node = home.serve();
  ses.control(R"({"fault":"close-after-read","share":0.1})");
  const auto id = home.campaign(installation::addresses(300));
  node->wait_until("the campaign finishes", [&] {
    if (home.is_over(id))
      return true;
    if (home.count("SELECT count(*) FROM message_states WHERE status = 2") > 30)
      ses.control(R"({"fault":"none"})");
    return false;
  });
  BOOST_TEST(home.count("SELECT count(*) FROM message_states WHERE status = 2") >= 5);
  check_ledger(home, ses.ledger());
}

BOOST_AUTO_TEST_CASE(a_batch_provider_gets_full_requests_and_a_bad_item_alone) {
  simulator batch("batch", {"--rate", "20", "--api-key", "re_stand_in"});
  live_site home(batch, "batch", {"routes.\"live:eu\".shards=1"});
  const auto node = home.serve();
  auto recipients = installation::addresses(150);
  recipients.insert(recipients.begin() + 20, "reject" + at_simulator);
  const auto id = home.campaign(recipients);
  node->wait_until("the campaign finishes", [&] { return home.is_over(id); });
  BOOST_TEST(home.states_of(id) == "accepted=150 rejected=1");
  check_ledger(home, batch.ledger());
  BOOST_TEST(batch.ledger().size() == 150u);
}

BOOST_AUTO_TEST_CASE(a_campaign_by_smtp_reaches_everybody_once_and_the_refused_are_named) {
  simulator smtp("smtp", {"--rate", "200"});
  live_site home(smtp, "smtp");
  const auto node = home.serve();
  auto recipients = installation::addresses(40);
  recipients.push_back("rcpt-550" + at_simulator);
  const auto id = home.campaign(recipients);
  node->wait_until("the campaign finishes", [&] { return home.is_over(id); });
  BOOST_TEST(home.states_of(id) == "accepted=40 rejected=1");
  BOOST_TEST(home.ask("SELECT diagnostic FROM message_states WHERE status = 8").find("550")
             != std::string::npos);
  check_ledger(home, smtp.ledger());
}

BOOST_AUTO_TEST_CASE(a_test_environment_never_reaches_a_real_provider) {
  simulator ses("ses");
  live_site home(ses, "ses", {"environments.live.kind=test"}, false);
  const auto end = home.run({"config", "check"});
  BOOST_TEST(end.status == 2);
  BOOST_TEST((end.output + end.errors).find("must not call a real provider") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
