/// Messages by SMTP to a real server: what arrives, and what each answer means.
#include <boost/test/unit_test.hpp>

#include "test/unit/smtp_support.hpp"

using namespace paceline;
using namespace paceline::smtp_test;

namespace {

void check_answer(const provider_answer& answer, outcome_kind kind, refusal refused,
                  reason_code reason) {
  BOOST_TEST((answer.kind == kind), name(answer.kind) << ": " << answer.diagnostic);
  BOOST_TEST((answer.refused == refused), answer.diagnostic);
  BOOST_TEST((answer.reason == reason), name(answer.reason) << ": " << answer.diagnostic);
}

/// A server with one peculiarity, and a provider for it.
struct peculiar {
  explicit peculiar(behaviour special, bool pipelining = true)
      : server(ways(std::move(special), pipelining)), stage(plain_options(server)) {}
  static smtp_ways ways(behaviour special, bool pipelining) {
    smtp_ways made;
    made.special = std::move(special);
    made.pipelining = pipelining;
    return made;
  }
  smtp_server server;
  smtp_stage_of_test stage;
};

} // namespace

BOOST_AUTO_TEST_SUITE(smtp_delivery)

BOOST_AUTO_TEST_CASE(a_message_arrives_octet_for_octet_with_its_envelope) {
  for (const bool pipelining : {true, false}) {
    peculiar with{{}, pipelining};
    auto message = message_to("ann@example.com", ".\r\n..two\r\n.dot\r\nlast\r\n");
    message.recipients.push_back("bob@example.net");
    message.raw_tail = std::make_shared<std::string>(".tail begins with a dot\r\n.\r\n");
    const auto answer = with.stage.send(message);
    check_answer(answer, outcome_kind::accepted, refusal::none, reason_code::none);
    BOOST_TEST(answer.provider_id == "queued as 1");
    const auto taken = with.server.taken();
    BOOST_REQUIRE_EQUAL(taken.size(), 1);
    BOOST_TEST(taken[0].text == message.raw + *message.raw_tail);
    BOOST_TEST(taken[0].from
               == "MAIL FROM:<news@paceline.example> SIZE=" + std::to_string(message.raw_size()));
    BOOST_TEST(
        taken[0].to
            == (std::vector<std::string>{"RCPT TO:<ann@example.com>", "RCPT TO:<bob@example.net>"}),
        boost::test_tools::per_element());
    BOOST_TEST(with.server.commands().at(0) == "EHLO paceline.example");
  }
}

BOOST_AUTO_TEST_CASE(a_large_message_arrives_whole) {
  peculiar with{{}};
  std::string line = ".0123456789abcdefghijklmnopqrstuvwxyz\r\n", body;
  while (body.size() < 5'000'000)
    body += line;
  auto message = message_to("ann@example.com", body);
  message.raw_tail = std::make_shared<std::string>(body);
  BOOST_TEST((with.stage.send(message).kind == outcome_kind::accepted));
  BOOST_REQUIRE_EQUAL(with.server.taken().size(), 1);
  BOOST_TEST((with.server.taken()[0].text == message.raw + *message.raw_tail));
}

BOOST_AUTO_TEST_CASE(messages_share_connections) {
  peculiar with{{}};
  for (int i = 0; i < 30; ++i)
    BOOST_TEST((with.stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
  BOOST_TEST(with.server.taken().size() == 30);
  BOOST_TEST(with.server.accepted() <= 2); // and a spare one
}

BOOST_AUTO_TEST_CASE(a_server_that_is_slow_to_answer_keeps_no_other_message_waiting) {
  std::atomic<bool> is_first{true};
  peculiar with{[&is_first](const std::string& command) -> std::optional<deed> {
    if (command == "." && is_first.exchange(false))
      return deed{{}, false, true};
    return std::nullopt;
  }};
  const auto& slow = with.stage.start(message_to("slow@example.com"));
  BOOST_REQUIRE(with.stage.run_until([&with] { return with.server.count(".") == 1; }));
  for (int i = 0; i < 5; ++i)
    BOOST_TEST((with.stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
  BOOST_TEST(slow.answers == 0);
  with.server.close_all();
  check_answer(with.stage.answer_of(slow), outcome_kind::unknown, refusal::none,
               reason_code::provider_connection_lost);
}

BOOST_AUTO_TEST_CASE(what_may_not_go_is_not_mentioned_to_the_server) {
  peculiar with{{}};
  const auto& refused = with.stage.start(message_to("no@example.com"), {}, false);
  check_answer(with.stage.answer_of(refused), outcome_kind::not_started, refusal::none,
               reason_code::slot_missed);
  BOOST_TEST((with.stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
  BOOST_TEST(with.server.count("MAIL") == 1);
  for (const auto& each : with.stage.calls)
    BOOST_TEST(each.asked <= 1);
}

BOOST_AUTO_TEST_CASE(one_refused_recipient_refuses_the_message_before_its_text) {
  for (const bool pipelining : {true, false}) {
    peculiar with{on("RCPT TO:<bad", {"550 5.1.1 nobody of that name", false, false}), pipelining};
    auto message = message_to("ann@example.com");
    message.recipients.push_back("bad@example.com");
    message.recipients.push_back("bob@example.com");
    const auto answer = with.stage.send(message);
    check_answer(answer, outcome_kind::rejected, refusal::this_message,
                 reason_code::provider_rejected);
    BOOST_TEST(answer.diagnostic == "550 5.1.1 nobody of that name (to RCPT TO)");
    BOOST_TEST(with.server.count("DATA") == 0);
    BOOST_TEST((with.stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
    BOOST_TEST(with.server.taken().size() == 1); // after RSET, on the same connection or the spare
  }
}

BOOST_AUTO_TEST_CASE(refusals_are_told_apart_by_command_and_code) {
  struct {
    std::string command, reply;
    outcome_kind kind;
    refusal refused;
    reason_code reason;
  } const cases[] = {
      {"MAIL", "451 4.3.0 later", outcome_kind::throttled, refusal::none,
       reason_code::provider_unavailable},
      {"MAIL", "451 4.7.1 greylisted", outcome_kind::throttled, refusal::rate,
       reason_code::provider_throttled},
      {"MAIL", "421 4.3.2 too busy", outcome_kind::throttled, refusal::rate,
       reason_code::provider_throttled},
      {"MAIL", "530 5.7.0 log in first", outcome_kind::throttled, refusal::sending_paused,
       reason_code::provider_sending_paused},
      {"MAIL", "553 5.7.1 not your address", outcome_kind::rejected, refusal::stream,
       reason_code::stream_refused},
      {"MAIL", "552 5.3.4 too large", outcome_kind::rejected, refusal::this_message,
       reason_code::provider_rejected},
      {"RCPT", "452 4.2.2 mailbox full", outcome_kind::throttled, refusal::none,
       reason_code::provider_unavailable},
      {"RCPT", "450 4.7.0 too fast", outcome_kind::throttled, refusal::rate,
       reason_code::provider_throttled},
      {"DATA", "554 5.5.0 no", outcome_kind::rejected, refusal::this_message,
       reason_code::provider_rejected},
      {"DATA", "421 closing", outcome_kind::throttled, refusal::rate,
       reason_code::provider_throttled},
      {".", "452 4.3.1 disk full", outcome_kind::throttled, refusal::none,
       reason_code::provider_unavailable},
      {".", "454 4.7.0 Throttling failure", outcome_kind::throttled, refusal::rate,
       reason_code::provider_throttled},
      {".", "550 5.7.1 looks like spam", outcome_kind::rejected, refusal::this_message,
       reason_code::provider_rejected},
      {".", "550-5.4.5 Daily user sending limit\r\n550 5.4.5 exceeded", outcome_kind::throttled,
       refusal::daily_quota, reason_code::provider_daily_quota},
  };
  for (const auto& each : cases) {
    BOOST_TEST_CONTEXT(each.command << " " << each.reply) {
      std::atomic<bool> refuses{true};
      peculiar with{[&](const std::string& command) -> std::optional<deed> {
        if (command.starts_with(each.command) && refuses.exchange(false))
          return deed{each.reply, each.reply.starts_with("421"), false};
        return std::nullopt;
      }};
      const auto answer = with.stage.send(message_to("ann@example.com"));
      check_answer(answer, each.kind, each.refused, each.reason);
      BOOST_TEST(answer.diagnostic.substr(0, 3) == each.reply.substr(0, 3));
      BOOST_TEST(with.server.taken().empty());
      BOOST_TEST((with.stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_connection_lost_before_the_end_of_the_text_took_nothing) {
  for (const std::string at : {"MAIL", "RCPT", "DATA"}) {
    peculiar with{on(at, {{}, true, false})};
    check_answer(with.stage.send(message_to("ann@example.com")), outcome_kind::not_started,
                 refusal::none, reason_code::provider_unreachable);
  }
  // In the middle of a text of which a part is still to be written.
  peculiar with{on("text", {{}, true, false})};
  std::string body(60'000'000, 'x');
  for (std::size_t i = 70; i < body.size(); i += 72)
    body.replace(i, 2, "\r\n");
  check_answer(with.stage.send(message_to("ann@example.com", body)), outcome_kind::not_started,
               refusal::none, reason_code::provider_unreachable);
}

BOOST_AUTO_TEST_CASE(a_refusal_in_the_middle_of_the_text_counts) {
  peculiar with{on("text", {"552 5.3.4 enough", true, false})};
  std::string body(60'000'000, 'x');
  for (std::size_t i = 70; i < body.size(); i += 72)
    body.replace(i, 2, "\r\n");
  const auto answer = with.stage.send(message_to("ann@example.com", body));
  // A reset may overtake the reply; either way nothing was taken.
  BOOST_TEST((answer.kind == outcome_kind::rejected || answer.kind == outcome_kind::not_started));
}

BOOST_AUTO_TEST_CASE(a_connection_lost_after_the_final_dot_leaves_it_unknown) {
  peculiar dropped{on(".", {{}, true, false})};
  const auto answer = dropped.stage.send(message_to("ann@example.com"));
  check_answer(answer, outcome_kind::unknown, refusal::none, reason_code::provider_connection_lost);
  for (const std::string reply : {"hello?", "354 more", "2 50 fine"}) {
    peculiar odd{on(".", {reply, false, false})};
    check_answer(odd.stage.send(message_to("ann@example.com")), outcome_kind::unknown,
                 refusal::none, reason_code::provider_connection_lost);
  }
}

BOOST_AUTO_TEST_CASE(no_answer_in_time_is_not_taken_before_the_dot_and_unknown_after_it) {
  for (const std::string at : {"MAIL", "DATA", "."}) {
    smtp_ways ways;
    ways.special = on(at, {{}, false, true});
    smtp_server server{ways};
    auto options = plain_options(server);
    options.total_timeout = 150ms;
    smtp_stage_of_test stage{options};
    if (at == ".")
      check_answer(stage.send(message_to("ann@example.com")), outcome_kind::unknown, refusal::none,
                   reason_code::provider_timeout);
    else
      check_answer(stage.send(message_to("ann@example.com")), outcome_kind::not_started,
                   refusal::none, reason_code::provider_unreachable);
  }
}

BOOST_AUTO_TEST_CASE(a_reply_that_nobody_asked_for_does_not_count_for_the_next_message) {
  peculiar with{on(".", {"250 2.0.0 queued\r\n250 2.1.0 and once more", false, false})};
  BOOST_TEST((with.stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
  BOOST_TEST((with.stage.send(message_to("bob@example.com")).kind == outcome_kind::accepted));
  BOOST_TEST(with.server.taken().size() == 2);
  BOOST_TEST(with.server.accepted() >= 2); // the first connection was not used again
}

BOOST_AUTO_TEST_CASE(an_address_that_would_end_the_command_is_refused_unseen) {
  peculiar with{{}};
  for (const std::string bad : {"a@b.de>\r\nRCPT TO:<c@d.de", "a b@c.de", "", "\xc3\xa4@b.de"}) {
    check_answer(with.stage.send(message_to(bad)), outcome_kind::rejected, refusal::this_message,
                 reason_code::invalid_recipient);
  }
  BOOST_TEST(with.server.count("MAIL") == 0);
}

BOOST_AUTO_TEST_CASE(a_server_that_names_no_id_leaves_our_message_id) {
  peculiar with{on(".", {"250", false, false})};
  BOOST_TEST(with.stage.send(message_to("ann@example.com")).provider_id
             == "<4711@paceline.example>");
}

BOOST_AUTO_TEST_SUITE_END()
