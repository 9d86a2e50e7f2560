/// Calls of SES v2 against npm's aws-ses-v2-local.
#include <boost/test/unit_test.hpp>

#include <string>

#include <rapidjson/document.h>

#include "test/peers/node_peer.hpp"
#include "test/support/provider_stage.hpp"
#include "transport/outgoing/http_client.hpp"
#include "transport/providers/ses.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

ses_options options_for(const std::string& endpoint) {
  ses_options options;
  options.region = "eu-west-1";
  options.endpoint = endpoint;
  options.configuration_set = "bulk";
  options.connections.allow_private = true;
  options.connections.http2 = false;
  options.credentials.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "AWS_ACCESS_KEY_ID" || name == "AWS_SECRET_ACCESS_KEY")
      return "example";
    return std::nullopt;
  };
  return options;
}

outgoing_message newsletter() {
  outgoing_message message;
  message.of = attempt{message_id{77}, 1};
  message.sender = "News <news@example.org>";
  message.recipients = {"anna@example.com", "hidden@example.com"};
  message.tags = {{"list", "weekly"}};
  message.raw = "From: News <news@example.org>\r\nTo: Anna <anna@example.com>\r\n"
                "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMIME-Version: 1.0\r\n"
                "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
                "--b\r\nContent-Type: text/plain; charset=utf-8\r\n"
                "Content-Transfer-Encoding: quoted-printable\r\n\r\nHallo W=C3=B6rld\r\n";
  message.raw_tail = std::make_shared<const std::string>(
      "--b\r\nContent-Type: application/octet-stream; name=a.bin\r\n"
      "Content-Disposition: attachment; filename=a.bin\r\n"
      "Content-Transfer-Encoding: base64\r\n\r\nAAECAwQF/v8=\r\n--b--\r\n");
  return message;
}

/// Everything that the peer has taken.
rapidjson::Document store_of(provider_stage& stage, const std::string& endpoint) {
  engine_options options;
  options.allow_private = true;
  http_client client{stage.loop, options};
  std::optional<http_result> came;
  client.send(
      {"GET", endpoint + "/store", {}, {}}, [] { return true; },
      [&came](http_result result) { came = std::move(result); });
  BOOST_REQUIRE(stage.run_until([&came] { return came.has_value(); }));
  rapidjson::Document store;
  BOOST_REQUIRE_MESSAGE(!store.Parse(came->body.c_str()).HasParseError(), came->diagnostic);
  return store;
}

} // namespace

BOOST_AUTO_TEST_SUITE(ses_local)

BOOST_AUTO_TEST_CASE(what_is_accepted_arrives_whole_and_under_the_id_that_was_told) {
  const auto script = peer_script("ses_local.mjs");
  if (!script)
    return;
  node_peer peer{{*script}};
  const auto endpoint = "http://127.0.0.1:" + peer.read_line();
  provider_stage stage{
      [&endpoint](reactor& loop) { return make_ses_provider(loop, options_for(endpoint)); }};
  const auto answer = stage.send(newsletter());
  BOOST_TEST((answer.kind == outcome_kind::accepted), answer.diagnostic);
  const auto store = store_of(stage, endpoint);
  BOOST_REQUIRE(store["emails"].Size() == 1u);
  const auto& mail = store["emails"][0];
  BOOST_TEST(mail["messageId"].GetString() == answer.provider_id);
  BOOST_TEST(std::string{mail["from"].GetString()}.find("news@example.org") != std::string::npos);
  BOOST_TEST(mail["subject"].GetString()
             == "Gr\xc3\xbc\xc3\x9f"
                "e");
  BOOST_TEST(std::string{mail["body"]["text"].GetString()}.starts_with("Hallo W\xc3\xb6rld"));
  // Who got a blind copy is nowhere in what readers see.
  BOOST_TEST(std::string{mail["destination"]["to"][0].GetString()}.find("anna@example.com")
             != std::string::npos);
  BOOST_TEST(mail["destination"]["bcc"].Size() == 0u);
  BOOST_REQUIRE(mail["attachments"].Size() == 1u);
  BOOST_TEST(mail["attachments"][0]["filename"].GetString() == "a.bin");
  BOOST_TEST(mail["attachments"][0]["content"].GetString() == "AAECAwQF/v8=");
}

BOOST_AUTO_TEST_CASE(the_quota_is_understood_and_a_refusal_is_a_sign_of_life) {
  const auto script = peer_script("ses_local.mjs");
  if (!script)
    return;
  node_peer peer{{*script}};
  const auto endpoint = "http://127.0.0.1:" + peer.read_line();
  provider_stage stage{
      [&endpoint](reactor& loop) { return make_ses_provider(loop, options_for(endpoint)); }};
  std::optional<std::optional<quota_reading>> told;
  stage.sends->ask_quota([&told](const result<quota_reading>& reading) {
    told = reading ? std::optional{*reading} : std::nullopt;
  });
  BOOST_REQUIRE(stage.run_until([&told] { return told.has_value(); }));
  BOOST_REQUIRE(told->has_value());
  BOOST_TEST((*told)->max_send_rate.millihertz() == 14500);
  BOOST_TEST((*told)->max_24h == 50000);
  BOOST_TEST((*told)->sent_24h == 12);
  BOOST_TEST(stage.is_healthy());
  BOOST_TEST(store_of(stage, endpoint)["emails"].Size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_message_that_it_can_not_read_is_rejected) {
  const auto script = peer_script("ses_local.mjs");
  if (!script)
    return;
  node_peer peer{{*script}};
  const auto endpoint = "http://127.0.0.1:" + peer.read_line();
  provider_stage stage{
      [&endpoint](reactor& loop) { return make_ses_provider(loop, options_for(endpoint)); }};
  auto nobody = newsletter();
  nobody.raw = "Subject: no sender\r\n\r\nx\r\n";
  nobody.raw_tail = nullptr;
  BOOST_TEST((stage.send(std::move(nobody)).kind == outcome_kind::rejected));
}

BOOST_AUTO_TEST_SUITE_END()
