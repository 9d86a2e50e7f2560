/// Batches to a real server: what it gets, what its answers mean, what is never sent again.
#include <boost/test/unit_test.hpp>

#include <future>
#include <set>

#include "test/unit/batch_support.hpp"

using namespace paceline;
using namespace paceline::batch_test;

namespace {

const std::vector<std::string> three{"a@example.com", "b@example.com", "c@example.com"};

behaviour always(std::string answer) {
  return [answer = std::move(answer)](const batch_received&) { return std::optional{answer}; };
}

void check_all(const std::vector<provider_answer>& answers, outcome_kind kind, refusal refused,
               reason_code reason) {
  for (const auto& each : answers) {
    BOOST_TEST((each.kind == kind), name(each.kind) << ": " << each.diagnostic);
    BOOST_TEST((each.refused == refused), each.diagnostic);
    BOOST_TEST((each.reason == reason), name(each.reason) << ": " << each.diagnostic);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(batch_delivery)

BOOST_AUTO_TEST_CASE(messages_of_one_slot_travel_in_one_request) {
  batch_server server;
  batch_stage stage{server.options()};
  const auto answers = stage.send_all(three);
  check_all(answers, outcome_kind::accepted, refusal::none, reason_code::none);
  for (std::size_t i = 0; i < three.size(); ++i)
    BOOST_TEST(answers[i].provider_id == "id-" + three[i]);
  BOOST_TEST(server.requests() == 1);
  BOOST_TEST(server.last().key == "Bearer re_secret");
  BOOST_TEST(server.last().idempotency_key.size() > 64);
  BOOST_TEST(server.last().head.starts_with("POST /emails/batch HTTP/1.1\r\n"));
  for (const auto& each : stage.calls)
    BOOST_TEST(each.asked == 1);
}

BOOST_AUTO_TEST_CASE(nothing_goes_before_the_slot_is_complete_and_slots_do_not_mix) {
  batch_server server;
  batch_stage stage{server.options()};
  const database_instant first{1s}, second{2s};
  stage.start(message_to("a@example.com", 1), first);
  stage.start(message_to("b@example.com", 2), second);
  stage.start(message_to("c@example.com", 3), first);
  for (const auto& each : stage.calls)
    BOOST_TEST(each.asked == 0);
  stage.sends->flush();
  for (const auto& each : stage.calls)
    stage.answer_of(each);
  BOOST_TEST(server.requests() == 2);
  BOOST_TEST(server.accepted().size() == 3);
}

BOOST_AUTO_TEST_CASE(requests_have_a_bound_of_messages_and_of_octets) {
  batch_server server;
  auto options = server.options();
  options.batch_size = 4;
  batch_stage stage{options};
  for (int i = 0; i < 10; ++i)
    stage.start(message_to("r" + std::to_string(i) + "@example.com", i));
  stage.sends->flush();
  for (const auto& each : stage.calls)
    BOOST_TEST((stage.answer_of(each).kind == outcome_kind::accepted));
  BOOST_TEST(server.requests() == 3);

  options.max_body = 10'000;
  batch_stage narrow{options};
  for (int i = 0; i < 3; ++i) {
    auto message = message_to("r" + std::to_string(i) + "@example.com", i);
    message.html_body = std::string(6'000, 'x');
    narrow.start(message);
  }
  narrow.sends->flush();
  for (const auto& each : narrow.calls)
    BOOST_TEST((narrow.answer_of(each).kind == outcome_kind::accepted));
  BOOST_TEST(server.requests() == 6);
}

BOOST_AUTO_TEST_CASE(one_message_that_may_not_go_keeps_the_request_back) {
  batch_server server;
  batch_stage stage{server.options()};
  auto& first = stage.start(message_to("a@example.com", 1));
  auto& stopped = stage.start(message_to("b@example.com", 2), {}, false);
  auto& last = stage.start(message_to("c@example.com", 3));
  stage.sends->flush();
  for (auto* each : {&first, &stopped, &last}) {
    const auto answer = stage.answer_of(*each);
    BOOST_TEST((answer.kind == outcome_kind::not_started));
    BOOST_TEST((answer.reason == reason_code::slot_missed));
  }
  BOOST_TEST(first.asked == 0); // not marked as written
  BOOST_TEST(stopped.asked == 1);
  BOOST_TEST(server.requests() == 0);
}

BOOST_AUTO_TEST_CASE(everything_a_message_has_is_in_its_item) {
  batch_server server;
  batch_stage stage{server.options()};
  auto message = message_to("ann@example.com", 77);
  message.of.version = 3;
  message.recipients = {"ann@example.com", "cc@example.com", "bcc@example.com"};
  message.to = {"\"Ann, \xc3\x84nne\" <Ann@Example.com>", "suppressed@example.com"};
  message.cc = {"CC@example.com"};
  message.subject = "Gr\xc3\xbc\xc3\x9f"
                    "e \"quoted\"";
  message.text_body = "one\r\ntwo";
  message.html_body = "<p>one</p>";
  message.headers = {{"Reply-To", "reply@paceline.example"},
                     {"List-Unsubscribe", "<https://paceline.example/u/1>"},
                     {"X-Other", "yes"},
                     {"Bcc", "bcc@example.com"}};
  message.tags = {{"kind", "welcome"}};
  std::string octets;
  for (int i = 0; i < 256; ++i)
    octets += static_cast<char>(i);
  message.attachments = std::make_shared<std::vector<attachment>>(std::vector<attachment>{
      {"a.bin", "application/octet-stream", "", octets}, {"logo.png", "image/png", "logo", "x"}});
  BOOST_TEST((stage.send(message).kind == outcome_kind::accepted));
  const auto& last = server.last();
  BOOST_TEST(last.text(0, "from") == message.sender);
  BOOST_TEST(last.list(0, "to") == std::vector<std::string>{message.to[0]},
             boost::test_tools::per_element());
  BOOST_TEST(last.list(0, "cc") == message.cc, boost::test_tools::per_element());
  BOOST_TEST(last.list(0, "bcc") == std::vector<std::string>{"bcc@example.com"},
             boost::test_tools::per_element());
  BOOST_TEST(last.text(0, "subject") == message.subject);
  BOOST_TEST(last.text(0, "text") == message.text_body);
  BOOST_TEST(last.text(0, "html") == message.html_body);
  BOOST_TEST(last.text(0, "reply_to") == "reply@paceline.example");
  const auto& item = last.items[0];
  BOOST_TEST(item["headers"].MemberCount() == 2);
  BOOST_TEST(item["headers"]["X-Other"].GetString() == "yes");
  BOOST_TEST(item["tags"][0]["name"].GetString() == "paceline_message");
  BOOST_TEST(item["tags"][0]["value"].GetString() == "77-3");
  BOOST_TEST(item["tags"][1]["value"].GetString() == "welcome");
  const auto& attached = item["attachments"];
  BOOST_REQUIRE_EQUAL(attached.Size(), 2);
  BOOST_TEST(attached[0]["filename"].GetString() == "a.bin");
  BOOST_TEST(std::string{attached[0]["content"].GetString()}.starts_with("AAECAwQFBgcICQoLDA0ODx"));
  BOOST_TEST(attached[0]["content"].GetStringLength() == 344);
  BOOST_TEST(!attached[0].HasMember("content_id"));
  BOOST_TEST(attached[1]["content"].GetString() == "eA==");
  BOOST_TEST(attached[1]["content_id"].GetString() == "logo");
}

BOOST_AUTO_TEST_CASE(hidden_recipients_stay_hidden) {
  batch_server server;
  batch_stage stage{server.options()};
  auto one = message_to("only@example.com");
  one.to = {"suppressed@example.com"};
  BOOST_TEST((stage.send(one).kind == outcome_kind::accepted));
  BOOST_TEST(server.last().list(0, "to").at(0) == "only@example.com");
  auto two = one;
  two.recipients.push_back("other@example.com");
  const auto answer = stage.send(two);
  BOOST_TEST((answer.kind == outcome_kind::rejected));
  BOOST_TEST((answer.refused == refusal::this_message));
  BOOST_TEST(server.requests() == 1);
}

BOOST_AUTO_TEST_CASE(the_idempotency_key_follows_from_messages_and_versions) {
  batch_server server;
  batch_stage stage{server.options()};
  std::set<std::string> keys;
  const auto send = [&](std::int64_t id, std::int32_t version) {
    auto message = message_to("a@example.com", id);
    message.of.version = version;
    stage.send(message);
    return server.last().idempotency_key;
  };
  keys = {send(1, 1), send(1, 2), send(2, 1), send(11, 1)};
  BOOST_TEST(keys.size() == 4);
  BOOST_TEST(send(1, 1) == send(1, 1));
}

BOOST_AUTO_TEST_CASE(refusals_of_a_whole_batch_are_told_apart) {
  struct {
    std::string answer;
    outcome_kind kind;
    refusal refused;
    reason_code reason;
  } const cases[] = {
      {refusal_answer(422, "validation_error"), outcome_kind::not_started, refusal::none,
       reason_code::batch_refused},
      {refusal_answer(400, "validation_error"), outcome_kind::not_started, refusal::none,
       reason_code::batch_refused},
      {http_answer(413, "<html>"), outcome_kind::not_started, refusal::none,
       reason_code::batch_refused},
      {refusal_answer(403, "validation_error"), outcome_kind::not_started, refusal::none,
       reason_code::batch_refused},
      {refusal_answer(401, "missing_api_key"), outcome_kind::throttled, refusal::sending_paused,
       reason_code::provider_sending_paused},
      {refusal_answer(403, "invalid_api_key"), outcome_kind::throttled, refusal::sending_paused,
       reason_code::provider_sending_paused},
      {http_answer(404, "no"), outcome_kind::throttled, refusal::sending_paused,
       reason_code::provider_sending_paused},
      {http_answer(302, "", "Location: https://elsewhere.example/\r\n"), outcome_kind::throttled,
       refusal::sending_paused, reason_code::provider_sending_paused},
      {refusal_answer(409, "concurrent_idempotent_requests"), outcome_kind::unknown, refusal::none,
       reason_code::provider_server_error},
      {refusal_answer(429, "rate_limit_exceeded"), outcome_kind::throttled, refusal::rate,
       reason_code::provider_throttled},
      {refusal_answer(429, "daily_quota_exceeded"), outcome_kind::throttled, refusal::daily_quota,
       reason_code::provider_daily_quota},
      {refusal_answer(429, "monthly_quota_exceeded"), outcome_kind::throttled, refusal::daily_quota,
       reason_code::provider_daily_quota},
      {refusal_answer(500, "internal_server_error"), outcome_kind::unknown, refusal::none,
       reason_code::provider_server_error},
      {http_answer(502, "<html>bad gateway</html>"), outcome_kind::unknown, refusal::none,
       reason_code::provider_server_error},
      {http_answer(200, "{\"data\":["), outcome_kind::unknown, refusal::none,
       reason_code::provider_server_error},
      {http_answer(200, "[]"), outcome_kind::unknown, refusal::none,
       reason_code::provider_server_error},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: "
       "100\r\n\r\n{\"data\":[{\"id\":\"1\"}]}",
       outcome_kind::unknown, refusal::none, reason_code::provider_connection_lost},
      {"", outcome_kind::unknown, refusal::none, reason_code::provider_connection_lost},
  };
  for (const auto& each : cases) {
    BOOST_TEST_CONTEXT(each.answer) {
      batch_server server{always(each.answer)};
      batch_stage stage{server.options()};
      check_all(stage.send_all(three), each.kind, each.refused, each.reason);
      BOOST_TEST(server.requests() == 1); // nothing is repeated, no redirect followed
    }
  }
}

BOOST_AUTO_TEST_CASE(a_single_message_that_is_refused_is_at_fault_itself) {
  const auto refused = [](const std::string& answer) {
    batch_server server{always(answer)};
    batch_stage stage{server.options()};
    return stage.send_all({"a@example.com"}).at(0);
  };
  for (const int status : {400, 413, 422, 451}) {
    const auto answer = refused(refusal_answer(status, "validation_error"));
    check_all({answer}, outcome_kind::rejected, refusal::this_message,
              reason_code::provider_rejected);
    BOOST_TEST(answer.diagnostic == std::to_string(status) + " validation_error The reason.");
  }
  for (const auto& answer : {refused(refusal_answer(403, "validation_error")),
                             refused(refusal_answer(422, "invalid_from_address"))})
    check_all({answer}, outcome_kind::rejected, refusal::stream, reason_code::stream_refused);
}

BOOST_AUTO_TEST_CASE(a_refused_batch_goes_one_by_one_and_accepts_nothing_twice) {
  batch_server server{[](const batch_received& came) -> std::optional<std::string> {
    for (rapidjson::SizeType i = 0; i < came.items.Size(); ++i)
      if (came.list(i, "to").at(0) == "bad@example.com")
        return refusal_answer(422, "validation_error");
    return std::nullopt;
  }};
  batch_stage stage{server.options()};
  std::vector<std::string> open{"a@example.com", "bad@example.com", "c@example.com"};
  int rejected = 0;
  // As the dispatcher does: what was refused together comes again alone.
  const auto first = stage.send_all(open);
  check_all(first, outcome_kind::not_started, refusal::none, reason_code::batch_refused);
  for (const auto& each : open)
    rejected += stage.send_all({each}).at(0).kind == outcome_kind::rejected ? 1 : 0;
  BOOST_TEST(rejected == 1);
  const auto accepted = server.accepted();
  BOOST_TEST(accepted.size() == 2);
  for (const auto& [recipient, count] : accepted)
    BOOST_TEST(count == 1, recipient);
}

BOOST_AUTO_TEST_CASE(messages_without_an_id_are_unknown) {
  batch_server server{always(http_answer(200, R"({"data":[{"id":"1"},{"id":""}]})"))};
  batch_stage stage{server.options()};
  const auto answers = stage.send_all(three);
  BOOST_TEST((answers[0].kind == outcome_kind::accepted));
  BOOST_TEST(answers[0].provider_id == "1");
  BOOST_TEST((answers[1].kind == outcome_kind::unknown));
  BOOST_TEST((answers[2].kind == outcome_kind::unknown));
}

BOOST_AUTO_TEST_CASE(the_wish_to_be_left_alone_is_passed_on) {
  const auto wish = [](const std::string& headers, const std::string& name) {
    batch_server server{always(refusal_answer(429, name, headers))};
    batch_stage stage{server.options()};
    return stage.send_all({"a@example.com"}).at(0).retry_after;
  };
  const std::string rate = "rate_limit_exceeded";
  BOOST_TEST((wish("Retry-After: 7\r\n", rate) == 7s));
  BOOST_TEST((wish("retry-after: 99999\r\n", rate) == 3600s));
  BOOST_TEST((wish("ratelimit-reset: 3\r\n", rate) == 3s));
  BOOST_TEST((wish("Retry-After: 9\r\nratelimit-reset: 3\r\n", rate) == 9s));
  BOOST_TEST((wish("Retry-After: soon\r\nratelimit-reset: 3\r\n", rate) == 3s));
  BOOST_TEST(!wish("", rate).has_value());
  BOOST_TEST((wish("Retry-After: 60\r\n", "daily_quota_exceeded") == 60s));
  // Dates count from the server's own clock where it shows it.
  const std::string date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
  for (const std::string form : {"Sun, 06 Nov 1994 08:51:37 GMT", "Sunday, 06-Nov-94 08:51:37 GMT",
                                 "Sun Nov  6 08:51:37 1994"})
    BOOST_TEST((wish(date + "Retry-After: " + form + "\r\n", rate) == 120s), form);
}

BOOST_AUTO_TEST_CASE(the_rate_is_learnt_from_answers_and_costs_no_request) {
  int answered = 0;
  batch_server server{[&answered](const batch_received&) {
    const auto limit = ++answered == 1 ? "ratelimit-limit: 10\r\nratelimit-reset: 1\r\n"
                                       : "RateLimit-Policy: \"a\";q=300;w=60\r\n";
    return std::optional{http_answer(200, R"({"data":[{"id":"1"}]})", limit)};
  }};
  batch_stage stage{server.options()};
  BOOST_TEST(stage.requests_per_second() == 2);
  BOOST_TEST(server.requests() == 0);
  stage.send_all({"a@example.com"});
  BOOST_TEST(stage.requests_per_second() == 10);
  stage.send_all({"b@example.com"});
  BOOST_TEST(stage.requests_per_second() == 5);
}

BOOST_AUTO_TEST_CASE(health_is_asked_with_an_empty_batch) {
  batch_server server;
  batch_stage stage{server.options()};
  BOOST_TEST(stage.is_healthy());
  BOOST_TEST(server.last().body == "[]");
  BOOST_TEST(server.accepted().empty());
  for (const int status : {200, 422, 429}) {
    batch_server well{always(http_answer(status, "{}"))};
    batch_stage other{well.options()};
    BOOST_TEST(other.is_healthy(), status);
  }
  for (const int status : {401, 500, 503}) {
    batch_server ill{always(http_answer(status, "{}"))};
    batch_stage other{ill.options()};
    BOOST_TEST(!other.is_healthy(), status);
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_or_not_itself_takes_nothing) {
  batch_options options;
  {
    batch_server gone;
    options = gone.options();
    options.ca_file.clear(); // its file goes, too
  }
  batch_stage nowhere{options};
  check_all(nowhere.send_all(three), outcome_kind::not_started, refusal::none,
            reason_code::provider_unreachable);
  for (const auto& each : nowhere.calls)
    BOOST_TEST(!each.written);
  BOOST_TEST(!nowhere.is_healthy());

  batch_server server;
  auto doubtful = server.options();
  doubtful.ca_file.clear();
  batch_stage stage{doubtful};
  check_all(stage.send_all(three), outcome_kind::throttled, refusal::sending_paused,
            reason_code::provider_sending_paused);
  BOOST_TEST(server.requests() == 0);
}

BOOST_AUTO_TEST_CASE(no_answer_in_time_leaves_all_unknown) {
  std::promise<void> over;
  auto waits = over.get_future().share();
  batch_server server{[waits](const batch_received&) {
    waits.wait();
    return std::optional<std::string>{""};
  }};
  auto options = server.options();
  options.total_timeout = 200ms;
  batch_stage stage{options};
  check_all(stage.send_all(three), outcome_kind::unknown, refusal::none,
            reason_code::provider_timeout);
  over.set_value();
}

BOOST_AUTO_TEST_CASE(a_key_that_would_break_the_header_is_refused_at_once) {
  machine_boot_time clock;
  epoll_reactor loop{clock};
  for (const std::string key : {"", "a b", "a\r\nX: y", "\xc3\xa4"}) {
    batch_options options;
    options.key = key;
    BOOST_CHECK_THROW(make_batch_provider(loop, options), std::runtime_error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
