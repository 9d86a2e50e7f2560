#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

#include <openssl/evp.h>
#include <rapidjson/document.h>

#include "transport/aws/ses_account.hpp"
#include "transport/providers/ses_request.hpp"

using namespace paceline;

namespace {

outgoing_message message_with(std::string raw, std::string tail = {}) {
  outgoing_message message;
  message.of = attempt{message_id{123456789012345678}, 3};
  message.sender = "\"News, weekly\" <news@example.org>";
  message.recipients = {"anna@example.com", "bert@example.com"};
  message.raw = std::move(raw);
  if (!tail.empty())
    message.raw_tail = std::make_shared<const std::string>(std::move(tail));
  return message;
}

rapidjson::Document body_of(const outgoing_message& message, std::string_view set = {}) {
  const auto text = send_email_body(message, set);
  rapidjson::Document read;
  BOOST_REQUIRE_MESSAGE(!read.Parse(text.c_str()).HasParseError(), text);
  return read;
}

std::string decoded(const std::string& text) {
  std::string octets(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(octets.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  BOOST_REQUIRE(size >= 0);
  octets.resize(static_cast<std::size_t>(size) - (text.ends_with("==") ? 2 : text.ends_with("=")));
  return octets;
}

} // namespace

BOOST_AUTO_TEST_SUITE(ses_request)

BOOST_AUTO_TEST_CASE(the_body_has_sender_envelope_content_tags_and_configuration_set) {
  auto message = message_with("From: a\r\n\r\nx");
  message.tags = {{"list", "weekly_1"}};
  const auto body = body_of(message, "bulk");
  BOOST_TEST(body["FromEmailAddress"].GetString() == "news@example.org");
  const auto& to = body["Destination"]["ToAddresses"];
  BOOST_REQUIRE(to.Size() == 2u);
  BOOST_TEST(to[0].GetString() == "anna@example.com");
  BOOST_TEST(to[1].GetString() == "bert@example.com");
  BOOST_TEST(body["Destination"].MemberCount() == 1u);
  BOOST_TEST(body["Content"]["Raw"]["Data"].GetString() == "RnJvbTogYQ0KDQp4");
  const auto& tags = body["EmailTags"];
  BOOST_REQUIRE(tags.Size() == 3u);
  BOOST_TEST(tags[0]["Name"].GetString() == "paceline-message");
  BOOST_TEST(tags[0]["Value"].GetString() == "123456789012345678");
  BOOST_TEST(tags[1]["Name"].GetString() == "paceline-version");
  BOOST_TEST(tags[1]["Value"].GetString() == "3");
  BOOST_TEST(tags[2]["Name"].GetString() == "list");
  BOOST_TEST(tags[2]["Value"].GetString() == "weekly_1");
  BOOST_TEST(body["ConfigurationSetName"].GetString() == "bulk");
  BOOST_TEST(!body_of(message).HasMember("ConfigurationSetName"));
}

BOOST_AUTO_TEST_CASE(head_and_tail_are_one_message_whatever_their_lengths) {
  for (std::size_t head = 0; head < 8; ++head)
    for (std::size_t tail = 0; tail < 8; ++tail) {
      const auto message =
          message_with(std::string("abcdefgh").substr(0, head), std::string(tail, '\xff'));
      const auto body = body_of(message);
      BOOST_TEST_CONTEXT(head << " " << tail)
      BOOST_TEST((decoded(body["Content"]["Raw"]["Data"].GetString())
                  == message.raw + std::string(tail, '\xff')));
    }
}

BOOST_AUTO_TEST_CASE(tags_that_ses_refuses_or_that_are_ours_stay_behind) {
  auto message = message_with("x");
  message.tags = {{"good", "yes"},
                  {"", "x"},
                  {"empty", ""},
                  {"blank", "a b"},
                  {"q\"", "x"},
                  {"paceline-message", "7"},
                  {"ses:caller-identity", "x"},
                  {"long", std::string(257, 'x')},
                  {"umlaut", "\xc3\xa4"}};
  for (int i = 0; i < 100; ++i)
    message.tags.emplace_back("t" + std::to_string(i), "x");
  const auto body = body_of(message);
  const auto& tags = body["EmailTags"];
  BOOST_TEST(tags.Size() == 50u);
  BOOST_TEST(tags[2]["Name"].GetString() == "good");
  BOOST_TEST(tags[3]["Name"].GetString() == "t0");
}

BOOST_AUTO_TEST_CASE(odd_addresses_can_not_leave_their_text) {
  auto message = message_with("x");
  message.recipients = {"\"a\\\"],\\\"x\"@example.com"};
  const auto body = body_of(message);
  BOOST_TEST(body["Destination"]["ToAddresses"][0].GetString() == message.recipients[0]);
}

BOOST_AUTO_TEST_CASE(the_account_tells_quota_and_what_it_may_not_do) {
  const auto found = read_account(
      R"({"DedicatedIpAutoWarmupEnabled":false,"EnforcementStatus":"PROBATION",)"
      R"("ProductionAccessEnabled":false,"SendQuota":{"Max24HourSend":200.0,"MaxSendRate":1.5,)"
      R"("SentLast24Hours":12.0},"SendingEnabled":false})");
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->quota.max_send_rate.millihertz() == 1500);
  BOOST_TEST(found->quota.max_24h == 200);
  BOOST_TEST(found->quota.sent_24h == 12);
  BOOST_TEST(!found->sending_enabled);
  BOOST_TEST(!found->production_access);
  BOOST_TEST(found->enforcement == "PROBATION");
  const auto unlimited =
      read_account(R"({"SendQuota":{"Max24HourSend":-1,"MaxSendRate":5000,"SentLast24Hours":0}})");
  BOOST_REQUIRE(unlimited.has_value());
  BOOST_TEST(unlimited->quota.max_24h == -1);
  BOOST_TEST(unlimited->sending_enabled);
}

BOOST_AUTO_TEST_CASE(figures_that_are_missing_or_absurd_are_no_quota) {
  for (const auto* const bad :
       {"", "[]", "{}", R"({"SendQuota":{}})",
        R"({"SendQuota":{"Max24HourSend":200,"MaxSendRate":1}})",
        R"({"SendQuota":{"Max24HourSend":200,"MaxSendRate":-1,"SentLast24Hours":0}})",
        R"({"SendQuota":{"Max24HourSend":200,"MaxSendRate":1e300,"SentLast24Hours":0}})",
        R"({"SendQuota":{"Max24HourSend":"200","MaxSendRate":1,"SentLast24Hours":0}})"})
    BOOST_TEST(!read_account(bad).has_value(), bad);
}

BOOST_AUTO_TEST_SUITE_END()
