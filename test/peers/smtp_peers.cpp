/// Messages by SMTP to npm's smtp-server.
#include <boost/test/unit_test.hpp>

#include <string>

#include <openssl/evp.h>
#include <rapidjson/document.h>

#include "test/peers/node_peer.hpp"
#include "test/support/provider_stage.hpp"
#include "test/unit/outgoing_support.hpp"
#include "transport/providers/smtp.hpp"

using namespace paceline;
using namespace paceline::test;
using paceline::outgoing_test::authority;
using paceline::outgoing_test::identity_files;

namespace {

outgoing_message message_to(const std::string& recipient) {
  outgoing_message message;
  message.of = attempt{message_id{77}, 1};
  message.sender = "News <news@example.org>";
  message.recipients = {recipient};
  message.raw = "Subject: Dots\r\nMessage-ID: <77@example.org>\r\n\r\n"
                ".\r\n..\r\n.hidden file\r\nno dot.\r\n\r\n.";
  message.raw_tail = std::make_shared<const std::string>("\r\n.tail\r\n");
  return message;
}

outgoing_message large_message_to(const std::string& recipient) {
  auto message = message_to(recipient);
  while (message.raw.size() < 30'000'000)
    message.raw += "\r\n.0123456789012345678901234567890123456789";
  return message;
}

std::string base64_of(const std::string& octets) {
  std::string out(octets.size() / 3 * 4 + 5, '\0');
  out.resize(static_cast<std::size_t>(EVP_EncodeBlock(
      reinterpret_cast<unsigned char*>(out.data()),
      reinterpret_cast<const unsigned char*>(octets.data()), static_cast<int>(octets.size()))));
  return out;
}

/// The server, what it needs for TLS, and options for it.
struct peer_of_smtp {
  peer_of_smtp(const std::string& script, const std::string& security)
      : files(trusted.issue("localhost")),
        node({script, files.certificate_file, files.key_file, security}) {
    options.host = "localhost";
    options.port = std::stoi(node.read_line());
    options.security =
        security == "tls" ? smtp_options::protection::tls : smtp_options::protection::starttls;
    options.username = "paceline";
    options.password = "pass word";
    options.ca_file = trusted.file();
    options.allow_private = true;
    options.greeting = "paceline.example";
  }

  authority trusted;
  identity_files files;
  node_peer node;
  smtp_options options;
};

struct smtp_stage : provider_stage {
  explicit smtp_stage(const smtp_options& options)
      : provider_stage([&options](reactor& on) { return make_smtp_provider(on, options); }) {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(smtp_peers)

BOOST_AUTO_TEST_CASE(smtp_server_takes_each_message_octet_for_octet) {
  const auto script = peer_script("smtp_server.mjs");
  if (!script)
    return;
  for (const std::string security : {"starttls", "tls"}) {
    peer_of_smtp peer{*script, security};
    smtp_stage stage{peer.options};
    BOOST_TEST(stage.is_healthy());
    for (int i = 0; i < 5; ++i) {
      auto message = message_to("ann@example.com");
      message.recipients.push_back("bob@example.net");
      const auto answer = stage.send(message);
      BOOST_TEST((answer.kind == outcome_kind::accepted), answer.diagnostic);
      BOOST_TEST(answer.provider_id.find("taken as peer-1") != std::string::npos,
                 answer.provider_id);
      rapidjson::Document taken;
      taken.Parse(peer.node.read_line().c_str());
      BOOST_REQUIRE(taken.IsObject());
      BOOST_TEST(taken["from"].GetString() == "news@example.org");
      BOOST_REQUIRE_EQUAL(taken["to"].Size(), 2);
      BOOST_TEST(taken["to"][1].GetString() == "bob@example.net");
      BOOST_TEST(taken["secure"].GetBool());
      BOOST_TEST(taken["user"].GetString() == "PLAIN paceline");
      BOOST_TEST(taken["text"].GetString() == base64_of(message.raw + *message.raw_tail));
    }
  }
}

BOOST_AUTO_TEST_CASE(smtp_servers_refusals_and_cuts_mean_what_they_say) {
  const auto script = peer_script("smtp_server.mjs");
  if (!script)
    return;
  peer_of_smtp peer{*script, "starttls"};
  smtp_stage stage{peer.options};
  const auto check = [&stage](const outgoing_message& message, outcome_kind kind, refusal refused) {
    const auto answer = stage.send(message);
    BOOST_TEST((answer.kind == kind), message.recipients[0] << ": " << answer.diagnostic);
    BOOST_TEST((answer.refused == refused), message.recipients[0] << ": " << answer.diagnostic);
  };
  check(message_to("nobody@example.com"), outcome_kind::rejected, refusal::this_message);
  check(message_to("later@example.com"), outcome_kind::throttled, refusal::none);
  check(message_to("too-fast@example.com"), outcome_kind::throttled, refusal::rate);
  check(message_to("spam@example.com"), outcome_kind::rejected, refusal::this_message);
  check(message_to("full@example.com"), outcome_kind::throttled, refusal::none);
  check(large_message_to("cut-before-the-dot@example.com"), outcome_kind::not_started,
        refusal::none);
  check(message_to("cut-after-the-dot@example.com"), outcome_kind::unknown, refusal::none);
  check(message_to("ann@example.com"), outcome_kind::accepted, refusal::none);
}

BOOST_AUTO_TEST_CASE(smtp_server_refuses_a_wrong_password) {
  const auto script = peer_script("smtp_server.mjs");
  if (!script)
    return;
  peer_of_smtp peer{*script, "starttls"};
  peer.options.password = "wrong";
  smtp_stage stage{peer.options};
  const auto answer = stage.send(message_to("ann@example.com"));
  BOOST_TEST((answer.kind == outcome_kind::throttled), answer.diagnostic);
  BOOST_TEST((answer.refused == refusal::sending_paused), answer.diagnostic);
}

BOOST_AUTO_TEST_SUITE_END()
