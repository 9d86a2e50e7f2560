/// What `paceline ses check` finds at the SES stand-in, which verifies signatures by code of its
/// own.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "test/support/simulator.hpp"
#include "test/unit/ses_support.hpp"
#include "transport/aws/ses_inspection.hpp"
#include "transport/aws/xml_text.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

struct check_stage {
  simulator ses{"ses", {"--region", "eu-west-1"}};

  ses_options options() const {
    ses_options made;
    made.region = "eu-west-1";
    made.endpoint = ses.endpoint();
    made.configuration_set = "bulk";
    made.connections.ca_file = ses.ca_file();
    made.connections.allow_private = true;
    made.credentials.environment = variables({{"AWS_ACCESS_KEY_ID", simulator::access_key()},
                                              {"AWS_SECRET_ACCESS_KEY", simulator::secret_key()}});
    return made;
  }

  /// `what: detail` of everything that is wrong.
  std::vector<std::string> wrongs(const ses_options& with) const {
    std::vector<std::string> found;
    for (const auto& one : inspect_ses(with, {"example.org"}))
      if (!one.is_right)
        found.push_back(one.what + ": " + one.detail);
    return found;
  }

  /// With one thing set wrong, exactly one finding is wrong: this.
  void finds(const std::string& name, const std::string& value, const std::string& usual,
             const std::string& what, const std::string& advice) const {
    ses.control(R"({")" + name + R"(":")" + value + "\"}");
    const auto found = wrongs(options());
    ses.control(R"({")" + name + R"(":")" + usual + "\"}");
    BOOST_TEST_CONTEXT(name << " " << value) {
      BOOST_REQUIRE(found.size() == 1u);
      BOOST_TEST(found[0].starts_with(what + ":"), found[0]);
      BOOST_TEST(found[0].find(advice) != std::string::npos, found[0]);
    }
  }
};

http_result page(const std::string& body) {
  http_result came;
  came.end = transfer_end::answered;
  came.status = 200;
  came.body = body;
  return came;
}

std::string subscription(const std::string& arn, const std::string& endpoint) {
  return "<member><Protocol>https</Protocol><SubscriptionArn>" + arn
         + "</SubscriptionArn><Endpoint>" + endpoint + "</Endpoint></member>";
}

} // namespace

BOOST_AUTO_TEST_SUITE(ses_check)

BOOST_FIXTURE_TEST_CASE(an_account_that_is_set_up_has_nothing_wrong, check_stage) {
  std::vector<std::string> names;
  for (const auto& one : inspect_ses(options(), {"example.org", "news@example.net"})) {
    BOOST_TEST(one.is_right, one.what << ": " << one.detail);
    names.push_back(one.what.substr(0, one.what.find(" arn:")));
  }
  const std::vector<std::string> expected{"credentials",
                                          "account",
                                          "identity example.org",
                                          "identity news@example.net",
                                          "configuration set bulk",
                                          "event destination",
                                          "topic",
                                          "subscription"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
  BOOST_TEST(ses.ledger().empty());
  BOOST_TEST(ses.counted("signature_faults") == 0);
}

BOOST_FIXTURE_TEST_CASE(each_thing_that_is_wrong_is_found_with_what_to_do, check_stage) {
  const std::string topic = "topic arn:aws:sns:eu-west-1:";
  finds("access", "sandbox", "production", "account", "request production access");
  finds("enforcement", "PROBATION", "HEALTHY", "account", "PROBATION");
  finds("enforcement", "SHUTDOWN", "HEALTHY", "account", "sending is disabled");
  finds("identity", "missing", "verified", "identity example.org", "create it");
  finds("identity", "pending", "verified", "identity example.org", "publish its DKIM records");
  finds("configuration_set", "missing", "present", "configuration set bulk", "create it");
  finds("configuration_set", "paused", "present", "configuration set bulk", "enable it");
  finds("event_destination", "missing", "present", "event destination", "add one");
  finds("event_destination", "disabled", "present", "event destination", "enable it");
  finds("event_destination", "with-send", "present", "event destination", "leave it out");
  finds("event_destination", "no-bounce", "present", "event destination",
        "does not report BOUNCE: add");
  finds("subscription", "missing", "confirmed", "subscription", "subscribe");
  finds("subscription", "pending", "confirmed", "subscription", "has not confirmed");
  finds("subscription_endpoint", "https://example.org/other",
        "https://mail.example.com/v1/events/ses", "subscription", "/v1/events/ses");
  ses.control(R"({"topic":"missing"})");
  const auto found = wrongs(options());
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].starts_with(topic), found[0]);
}

BOOST_FIXTURE_TEST_CASE(wrong_keys_no_keys_and_no_way_there_are_told_apart, check_stage) {
  auto with = options();
  with.credentials.environment = variables(
      {{"AWS_ACCESS_KEY_ID", simulator::access_key()}, {"AWS_SECRET_ACCESS_KEY", "hush"}});
  auto found = wrongs(with);
  BOOST_REQUIRE(!found.empty());
  BOOST_TEST(found[0].starts_with("account: 403 "), found[0]);
  BOOST_TEST(found[0].find("hush") == std::string::npos);
  with.credentials.source = credentials_source::environment;
  with.credentials.environment = variables({});
  found = wrongs(with);
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].starts_with("credentials: AWS_ACCESS_KEY_ID"), found[0]);
  with = options();
  with.connections.ca_file.clear();
  found = wrongs(with);
  BOOST_REQUIRE(!found.empty());
  BOOST_TEST(found[0].find("certificate") != std::string::npos, found[0]);
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_is_wrong_is_no_finding, check_stage) {
  auto with = options();
  with.wall = [] { return unix_seconds_now() - 7200; };
  BOOST_TEST(wrongs(with).empty());
}

BOOST_FIXTURE_TEST_CASE(a_route_without_configuration_set_hears_nothing, check_stage) {
  auto with = options();
  with.configuration_set.clear();
  const auto found = wrongs(with);
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].starts_with("configuration set:"), found[0]);
}

BOOST_AUTO_TEST_CASE(a_listener_on_a_later_page_and_with_entities_counts) {
  const std::vector<http_result> pages{
      page("<Subscriptions>" + subscription("PendingConfirmation", "https://a/v1/events/ses")
           + "</Subscriptions><NextToken>a&lt;b&amp;</NextToken>"),
      page("<Subscriptions>" + subscription("arn:aws:sns:x:1:t:2", "https://b/v1/events/ses")
           + "</Subscriptions>")};
  BOOST_TEST(next_page(pages[0]) == "a<b&");
  BOOST_TEST(next_page(pages[1]) == "");
  BOOST_TEST(judge_subscriptions(pages).is_right);
  BOOST_TEST(!judge_subscriptions({pages[0]}).is_right);
}

BOOST_AUTO_TEST_CASE(broken_xml_has_no_elements) {
  BOOST_TEST(xml_elements("<a>1</a><a>2", "a").size() == 1u);
  BOOST_TEST(xml_elements("</a><a>", "a").empty());
  BOOST_TEST(xml_text("<a>&amp;lt;&#x;&</a>", "a") == "&lt;&#x;&");
  std::string many;
  for (int i = 0; i < 5000; ++i)
    many += "<a></a>";
  BOOST_TEST(xml_elements(many, "a").size() == 1000u);
}

BOOST_AUTO_TEST_CASE(the_region_of_a_topic_is_in_its_name) {
  BOOST_TEST(region_of_arn("arn:aws:sns:eu-west-1:123456789012:events") == "eu-west-1");
  for (const auto* const bad : {"", "arn", "arn:aws:sns", "arn:aws:sns:eu", "arn:aws:sns:a.b/:1:x"})
    BOOST_TEST(region_of_arn(bad) == "", bad);
}

BOOST_AUTO_TEST_CASE(answers_of_another_shape_are_wrong_and_nothing_worse) {
  for (const auto* const body : {"", "[]", "{}", "null", R"({"EventDestinations":{}})",
                                 R"({"EventDestinations":[1,{}]})", R"({"DkimAttributes":7})"}) {
    BOOST_TEST(!judge_account(page(body)).is_right, body);
    BOOST_TEST(!judge_identity("example.org", page(body)).is_right, body);
    BOOST_TEST(!judge_event_destinations(page(body)).finding.is_right, body);
    BOOST_TEST(!judge_topic("arn:aws:sns:x:1:t", page(body)).is_right, body);
    BOOST_TEST(!judge_subscriptions({page(body)}).is_right, body);
  }
  const auto odd = page(R"({"VerifiedForSendingStatus":true})");
  BOOST_TEST(judge_identity("example.org", odd).detail.find("DKIM") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
