/// Messages by SMTP to Debian's Postfix.
#include <boost/test/unit_test.hpp>

#include <string>

#include "test/peers/postfix_sink.hpp"
#include "test/support/provider_stage.hpp"
#include "test/unit/outgoing_support.hpp"
#include "transport/providers/smtp.hpp"

using namespace paceline;
using namespace paceline::test;
using paceline::outgoing_test::authority;
using paceline::outgoing_test::identity_files;

namespace {

bool is_possible() {
  const auto obstacle = postfix_sink::obstacle();
  if (!obstacle.empty())
    BOOST_TEST_MESSAGE("SKIPPED: SMTP was not tried against Postfix: " << obstacle);
  return obstacle.empty();
}

struct sink_and_stage {
  sink_and_stage()
      : files(trusted.issue("localhost")), sink(files.certificate_file, files.key_file) {
    options.host = "localhost";
    options.port = sink.port();
    options.ca_file = trusted.file();
    options.allow_private = true;
    options.greeting = "paceline.example";
    stage = std::make_unique<provider_stage>(
        [this](reactor& on) { return make_smtp_provider(on, options); });
    // Its daemon takes a moment to listen.
    bool listens = false;
    for (int tries = 0; tries < 20 && !listens; ++tries)
      listens =
          stage->is_healthy() || (stage->run_until([n = 0]() mutable { return ++n > 10; }), false);
    BOOST_REQUIRE_MESSAGE(listens, sink.log());
  }

  authority trusted;
  identity_files files;
  postfix_sink sink;
  smtp_options options;
  std::unique_ptr<provider_stage> stage;
};

outgoing_message message_to(const std::string& recipient) {
  outgoing_message message;
  message.of = attempt{message_id{77}, 1};
  message.sender = "News <news@paceline.example>";
  message.recipients = {recipient};
  message.raw = "From: News <news@paceline.example>\r\nTo: ann@example.com\r\nSubject: Dots\r\n"
                "Date: Tue, 01 Dec 2026 02:00:00 +0000\r\nMessage-ID: <77@paceline.example>\r\n"
                "MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n"
                ".\r\n..\r\n.hidden file\r\nno dot.\r\n\r\n.";
  message.raw_tail = std::make_shared<const std::string>("\r\n.tail\r\n");
  return message;
}

/// As files have it.
std::string with_line_feeds(std::string text) {
  std::erase(text, '\r');
  return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(postfix_delivery)

BOOST_AUTO_TEST_CASE(postfix_delivers_each_message_octet_for_octet) {
  if (!is_possible())
    return;
  sink_and_stage with;
  const auto message = message_to("ann@example.com");
  for (int i = 0; i < 10; ++i) {
    const auto answer = with.stage->send(message);
    BOOST_TEST((answer.kind == outcome_kind::accepted), answer.diagnostic);
    BOOST_TEST(answer.provider_id.find("queued as") != std::string::npos, answer.provider_id);
  }
  BOOST_REQUIRE_MESSAGE(
      with.stage->run_until([&with] { return with.sink.delivered().size() == 10; }),
      with.sink.log());
  for (const auto& each : with.sink.delivered()) {
    BOOST_TEST(each.ends_with('\n' + with_line_feeds(message.raw + *message.raw_tail)), each);
    BOOST_TEST(each.find("Return-Path: <news@paceline.example>") != std::string::npos);
    BOOST_TEST(each.find("Delivered-To: ann@example.com") != std::string::npos);
    BOOST_TEST(each.find("ESMTPS") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(postfixs_refusals_mean_what_they_say) {
  if (!is_possible())
    return;
  sink_and_stage with;
  const auto refused = with.stage->send(message_to("nobody@example.com"));
  BOOST_TEST((refused.kind == outcome_kind::rejected), refused.diagnostic);
  BOOST_TEST((refused.refused == refusal::this_message), refused.diagnostic);
  const auto later = with.stage->send(message_to("later@example.com"));
  BOOST_TEST((later.kind == outcome_kind::throttled), later.diagnostic);
  BOOST_TEST((later.refused == refusal::none), later.diagnostic);
  // One refused recipient refuses the message for all.
  auto both = message_to("ann@example.com");
  both.recipients.push_back("nobody@example.com");
  BOOST_TEST((with.stage->send(both).kind == outcome_kind::rejected));
  BOOST_TEST((with.stage->send(message_to("ann@example.com")).kind == outcome_kind::accepted));
  BOOST_TEST(with.stage->run_until([&with] { return with.sink.delivered().size() == 1; }),
             with.sink.log());
}

BOOST_AUTO_TEST_SUITE_END()
