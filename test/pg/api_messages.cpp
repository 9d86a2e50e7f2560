/// Sending by the API, and what became of it.
#include <boost/test/unit_test.hpp>

#include <stdexcept>

#include "test/pg/api_fixture.hpp"
#include "transport/api/database_calls.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

std::string batch_of(int count) {
  std::string body = R"({"content":{"from":"a@b.de","subject":"Hi {{n}}","text":"t"},"messages":[)";
  for (int i = 0; i < count; ++i)
    body += (i > 0 ? "," : "") + std::string{R"({"to":"r)"} + std::to_string(i)
            + R"(@b.de","fields":{"n":)" + std::to_string(i) + "}}";
  return body + "]}";
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(api_messages, api_fixture)

BOOST_AUTO_TEST_CASE(what_was_sent_is_stored_and_shown) {
  const auto answer = send(R"("tags":{"order":"17"},"cc":"Bob <bob@example.com>",)"
                           R"("headers":{"X-A":"b"},"reply_to":"r@example.com")");
  BOOST_TEST(answer.status == 202);
  BOOST_TEST(member(answer, "route") == "test:sim");
  BOOST_TEST(member(answer, "recipients") == "2");
  BOOST_TEST(woken() == std::vector<std::string>{"test:sim"}, boost::test_tools::per_element());
  BOOST_TEST(ask("SELECT headers FROM contents") == R"({"Reply-To":"r@example.com","X-A":"b"})");
  const auto shown = call("GET", "/v1/messages/" + member(answer, "id"));
  BOOST_TEST(shown.status == 200);
  for (const auto* each : {&answer, &shown})
    BOOST_TEST(each->body.ends_with("}\n"));
  BOOST_TEST(member(shown, "state") == "queued");
  BOOST_TEST(member(shown, "tags") == R"({"order":"17"})");
  BOOST_TEST(member(shown, "recipients") == R"(["anna@example.com","bob@example.com"])");
  BOOST_TEST(member(shown, "events").find(R"("type":"queued")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_message_of_tomorrow_wakes_nobody) {
  const auto tomorrow = ask("SELECT to_char(now() + interval '1 day', "
                            "'YYYY-MM-DD\"T\"HH24:MI:SS+00:00')");
  const auto answer = send("\"send_at\":\"" + tomorrow + "\"");
  BOOST_TEST(answer.status == 202);
  BOOST_TEST(woken().empty());
  BOOST_TEST(ask("SELECT due_at > now() + interval '23 hours' FROM message_states") == "t");
  const auto shown = call("GET", "/v1/messages/" + member(answer, "id"));
  BOOST_TEST(member(shown, "events").find(R"("type":"scheduled")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_batch_is_stored_by_one_statement) {
  BOOST_TEST(call("POST", "/v1/batch", batch_of(1)).status == 202); // streams and keys are known
  const auto before = counts.snapshot()["take_in"].statements;
  const auto answer = call("POST", "/v1/batch", batch_of(5000));
  BOOST_TEST(answer.status == 202);
  BOOST_TEST(member(answer, "count") == "5000");
  BOOST_TEST(counts.snapshot()["take_in"].statements == before + 1);
  BOOST_TEST(count("messages") == 5001);
  BOOST_TEST(count("contents") == 2);
  BOOST_TEST(ask("SELECT count(DISTINCT stream) FROM messages") == "1");
  BOOST_TEST(ask("SELECT priority FROM streams WHERE kind = 'direct'") == "50");
}

BOOST_AUTO_TEST_CASE(a_batch_with_one_bad_message_stores_none) {
  auto body = batch_of(3);
  body.replace(body.find("r1@b.de"), 7, "r1@b..d");
  const auto answer = call("POST", "/v1/batch", body);
  BOOST_TEST(answer.status == 400);
  BOOST_TEST(answer.content_type == "application/problem+json");
  BOOST_TEST(answer.body.find("\"/messages/1/to\"") != std::string::npos);
  BOOST_TEST(count("messages") == 0);
}

BOOST_AUTO_TEST_CASE(sends_at_once_are_gathered_into_few_statements) {
  BOOST_TEST(send().status == 202);
  const auto before = counts.snapshot()["take_in"].statements;
  std::atomic<int> stored{0};
  at_once(32, [&](int) {
    for (int i = 0; i < 10; ++i)
      stored += send().status == 202 ? 1 : 0;
  });
  BOOST_TEST(stored.load() == 320);
  BOOST_TEST(count("messages") == 321);
  BOOST_TEST(counts.snapshot()["take_in"].statements - before < 320u);
}

BOOST_AUTO_TEST_CASE(a_repeated_request_gets_the_first_answer_byte_for_byte) {
  const header_list once{{"Idempotency-Key", "order-17"}};
  const auto first = send({}, once);
  const auto again = send({}, once);
  BOOST_TEST(first.status == 202);
  BOOST_TEST(again.status == 202);
  BOOST_TEST(again.body == first.body);
  BOOST_TEST(header(first, "Idempotent-Replay").empty());
  BOOST_TEST(header(again, "Idempotent-Replay") == "true");
  restart(); // another node, or the same after a crash
  BOOST_TEST(send({}, once).body == first.body);
  const auto other = send(R"("priority":1)", once);
  BOOST_TEST(other.status == 422);
  BOOST_TEST(other.body.find("Idempotency-Key") != std::string::npos);
  BOOST_TEST(count("messages") == 1);
  BOOST_TEST(send({}, {{"Idempotency-Key", ""}}).status == 400);
  BOOST_TEST(send({}, {{"Idempotency-Key", std::string(256, 'a')}}).status == 400);
  BOOST_TEST(send({}, {{"Idempotency-Key", std::string(255, 'a')}}).status == 202);
}

BOOST_AUTO_TEST_CASE(equal_requests_at_once_create_one_message) {
  std::atomic<int> good{0}, in_work{0};
  at_once(12, [&](int) {
    const auto answer = send({}, {{"Idempotency-Key", "same"}});
    good += answer.status == 202 ? 1 : 0;
    in_work += answer.status == 409 && !header(answer, "Retry-After").empty() ? 1 : 0;
  });
  BOOST_TEST(good.load() >= 1);
  BOOST_TEST(good.load() + in_work.load() == 12);
  BOOST_TEST(count("messages") == 1);
}

BOOST_AUTO_TEST_CASE(a_request_that_was_refused_frees_its_idempotency_key) {
  const header_list once{{"Idempotency-Key", "k"}};
  BOOST_TEST(send(R"("priority":101)", once).status == 400);
  BOOST_TEST(send({}, once).status == 202);
}

BOOST_AUTO_TEST_CASE(a_connection_lost_while_storing_costs_no_message_and_makes_none_twice) {
  BOOST_TEST(send().status == 202);
  const auto blocker = connect();
  must(run(*blocker, "SELECT 1")); // connected
  pqxx::work lock{blocker->raw()};
  lock.exec("SELECT 1 FROM api_keys FOR UPDATE");
  auto running = std::async(std::launch::async, [this] { return send(); });
  wait_until("EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock')");
  ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
  lock.abort();
  BOOST_TEST(running.get().status == 202);
  BOOST_TEST(count("messages") == 2);
}

BOOST_AUTO_TEST_CASE(a_send_is_stored_beside_a_statement_that_waits_for_another_keys_row) {
  const header_list other{{"Authorization", bearer(make_key({key_scope::send}))}};
  BOOST_TEST(send().status == 202); // both keys are known, and their use is noted
  BOOST_TEST(send({}, other).status == 202);
  const auto blocker = connect();
  must(run(*blocker, "SELECT 1")); // connected
  pqxx::work lock{blocker->raw()};
  lock.exec("SELECT FROM api_keys WHERE id = " + std::to_string(parse_token(token)->key.value())
            + " FOR UPDATE");
  auto stuck = std::async(std::launch::async, [this] { return send(); });
  wait_until("EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock')");
  BOOST_TEST(send({}, other).status == 202);
  lock.abort();
  BOOST_TEST(stuck.get().status == 202);
}

BOOST_AUTO_TEST_CASE(an_exception_on_a_database_thread_fails_its_requests_and_nothing_else) {
  std::atomic<bool> is_faulty{true};
  options.instruments.on_intake = [&is_faulty](std::size_t) {
    if (is_faulty)
      throw std::runtime_error{"out of luck"};
  };
  restart();
  at_once(8, [this](int) { BOOST_TEST(send().status == 500); });
  is_faulty = false;
  BOOST_TEST(send().status == 202);

  database_pool pool{database_fixture::options(), 1, 10, counts};
  database_calls calls{pool, std::chrono::seconds{3}};
  const auto failed =
      calls.run([](session&) -> result<int> { throw std::runtime_error{"out of luck"}; });
  BOOST_REQUIRE(!failed);
  BOOST_TEST((failed.failure().kind == error_kind::internal));
  BOOST_TEST(must(calls.run([](session&) -> result<int> { return 7; })) == 7);
}

BOOST_AUTO_TEST_CASE(without_a_database_the_answer_is_503_and_comes_soon) {
  options.database_wait = std::chrono::milliseconds{300};
  restart("host=127.0.0.1 port=1 dbname=none");
  const auto began = boot_clock::now();
  const auto answer = send();
  BOOST_TEST(answer.status == 503);
  BOOST_TEST(!header(answer, "Retry-After").empty());
  BOOST_TEST((boot_clock::now() - began < std::chrono::seconds{20}));
}

BOOST_AUTO_TEST_CASE(a_list_goes_from_page_to_page) {
  BOOST_TEST(call("POST", "/v1/batch", batch_of(5)).status == 202);
  std::string cursor, seen;
  int pages = 0;
  do {
    const auto page =
        call("GET", "/v1/messages?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
    BOOST_REQUIRE(page.status == 200);
    seen += member(page, "messages");
    cursor = member(page, "next");
    BOOST_REQUIRE(++pages < 10);
  } while (cursor != "null");
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(seen.find("r" + std::to_string(i) + "@b.de") != std::string::npos);
  const auto one = call("GET", "/v1/messages?recipient=R3@B.de&status=queued");
  BOOST_TEST(one.body.find("r3@b.de") != std::string::npos);
  BOOST_TEST(one.body.find("r2@b.de") == std::string::npos);
  for (const auto* bad : {"limit=0", "limit=1001", "limit=x", "cursor=xyz", "status=lost",
                          "recipient=x", "campaign=0", "sort=up", "limit=1&limit=2"})
    BOOST_TEST(call("GET", "/v1/messages?" + std::string{bad}).status == 400, bad);
}

BOOST_AUTO_TEST_CASE(a_queued_message_can_be_canceled) {
  const auto id = member(send(), "id");
  const auto canceled = call("POST", "/v1/messages/" + id + "/cancel");
  BOOST_TEST(canceled.status == 200);
  BOOST_TEST(member(canceled, "state") == "canceled");
  BOOST_TEST(call("POST", "/v1/messages/" + id + "/cancel").status == 200);
  const auto other = member(send(), "id");
  ask("UPDATE message_states SET status = 3 WHERE id = " + other);
  BOOST_TEST(call("POST", "/v1/messages/" + other + "/cancel").status == 409);
  BOOST_TEST(call("GET", "/v1/messages/17").status == 404);
  BOOST_TEST(call("GET", "/v1/messages/x").status == 404);
}

BOOST_AUTO_TEST_CASE(the_region_is_needed_where_there_are_several) {
  const header_list live{{"Authorization", bearer(make_key({key_scope::admin}, "live"))}};
  const auto which = send({}, live);
  BOOST_TEST(which.status == 422);
  BOOST_TEST(which.body.find("r1, r2") != std::string::npos);
  BOOST_TEST(member(send(R"("region":"r2")", live), "route") == "live:r2");
  BOOST_TEST(send(R"("region":"r3")", live).status == 422);
}

BOOST_AUTO_TEST_CASE(wrong_paths_methods_and_types_are_told_apart) {
  BOOST_TEST(call("GET", "/v2/send").status == 404);
  const auto wrong = call("GET", "/v1/send");
  BOOST_TEST(wrong.status == 405);
  BOOST_TEST(header(wrong, "Allow") == "POST");
  BOOST_TEST(header(call("PUT", "/v1/campaigns"), "Allow") == "GET, POST");
  BOOST_TEST(call("POST", "/v1/send", "x", {{"Content-Type", "text/plain"}}).status == 415);
  BOOST_TEST(call("POST", "/v1/send", "").status == 415);
  const auto broken = call("POST", "/v1/send", "{\"from\":");
  BOOST_TEST(broken.status == 400);
  BOOST_TEST(broken.body.find("octet 9") != std::string::npos);
  BOOST_TEST(call("POST", "/v1/send?dry=1", message()).status == 400);
}

BOOST_AUTO_TEST_CASE(health_needs_no_key) {
  const header_list nobody{{"Authorization", ""}};
  BOOST_TEST(call("GET", "/v1/health/live", {}, nobody).status == 200);
  BOOST_TEST(call("HEAD", "/v1/health/live", {}, nobody).status == 200);
  const auto ready = call("GET", "/v1/health/ready", {}, nobody);
  BOOST_TEST(ready.status == 503);
  BOOST_TEST(ready.body.find("no node has a shard") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
