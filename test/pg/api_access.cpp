/// Who may do what, and how much of it.
#include <boost/test/unit_test.hpp>

#include "storage/session.hpp"
#include "test/pg/api_fixture.hpp"
#include "test/support/waiting.hpp"

using namespace paceline;
using namespace paceline::test;

BOOST_FIXTURE_TEST_SUITE(api_access, api_fixture)

BOOST_AUTO_TEST_CASE(without_a_good_key_nothing_is_done) {
  auto wrong = token;
  wrong.back() = wrong.back() == 'A' ? 'E' : 'A';
  const auto unknown = make_token(key_id{999}, token_secret{});
  for (const std::string& header :
       {std::string{}, std::string{"Bearer"}, std::string{"Bearer x"}, token, "Basic " + token,
        bearer(wrong), bearer(unknown), bearer(token + "A")}) {
    const auto answer = send({}, {{"Authorization", header}});
    BOOST_TEST(answer.status == 401, header);
    BOOST_TEST(api_fixture::header(answer, "WWW-Authenticate").starts_with("Bearer"));
    BOOST_TEST(member(answer, "request_id") == "req-1");
  }
  BOOST_TEST(send({}, {{"Authorization", bearer(token)}, {"Authorization", bearer(token)}}).status
             == 401);
  BOOST_TEST(count("messages") == 0);
}

BOOST_AUTO_TEST_CASE(a_scope_that_is_missing_is_403) {
  const auto reader = bearer(make_key({key_scope::read}));
  const auto sender = bearer(make_key({key_scope::send}));
  const auto admin = bearer(make_key({key_scope::admin}));
  BOOST_TEST(send({}, {{"Authorization", reader}}).status == 403);
  BOOST_TEST(call("GET", "/v1/messages", {}, {{"Authorization", sender}}).status == 403);
  BOOST_TEST(call("POST", "/v1/campaigns", "{}", {{"Authorization", sender}}).status == 403);
  BOOST_TEST(call("GET", "/v1/messages", {}, {{"Authorization", reader}}).status == 200);
  BOOST_TEST(send({}, {{"Authorization", sender}}).status == 202);
  BOOST_TEST(send({}, {{"Authorization", admin}}).status == 202);
}

BOOST_AUTO_TEST_CASE(a_key_that_was_revoked_stores_nothing_although_it_is_remembered) {
  BOOST_TEST(send().status == 202);
  const auto key = parse_token(token)->key;
  must(revoke_key(*db, key, "cli:test"));
  BOOST_TEST(send().status == 401);
  BOOST_TEST(call("GET", "/v1/messages").status == 401); // and it is forgotten
  BOOST_TEST(count("messages") == 1);
}

BOOST_AUTO_TEST_CASE(what_belongs_to_others_is_not_there) {
  id_source ids{9};
  must(create_project(*db, ids, "other", "cli:test"));
  const auto id = member(send(), "id");
  const auto campaign = member(
      call("POST", "/v1/campaigns", R"({"name":"June","from":"a@b.de","subject":"s","text":"t"})"),
      "id");
  call("POST", "/v1/suppressions", R"({"address":"x@b.de"})");
  const std::vector<key_scope> all{key_scope::admin};
  for (const auto& stranger : {make_key(all, "live"), make_key(all, "test", "other")}) {
    const header_list as{{"Authorization", bearer(stranger)}};
    BOOST_TEST(call("GET", "/v1/messages/" + id, {}, as).status == 404);
    BOOST_TEST(call("POST", "/v1/messages/" + id + "/cancel", {}, as).status == 404);
    BOOST_TEST(member(call("GET", "/v1/messages", {}, as), "messages") == "[]");
    BOOST_TEST(call("GET", "/v1/campaigns/" + campaign, {}, as).status == 404);
    for (const auto* what : {"send", "pause", "resume", "cancel"})
      BOOST_TEST(call("POST", "/v1/campaigns/" + campaign + "/" + what, {}, as).status == 404);
    BOOST_TEST(call("POST", "/v1/campaigns/" + campaign + "/recipients",
                    R"({"recipients":[{"to":"a@b.de"}]})", as)
                   .status
               == 404);
    BOOST_TEST(member(call("GET", "/v1/campaigns", {}, as), "campaigns") == "[]");
    BOOST_TEST(call("GET", "/v1/suppressions/x@b.de", {}, as).status == 404);
    BOOST_TEST(call("DELETE", "/v1/suppressions/x@b.de", {}, as).status == 404);
  }
  BOOST_TEST(call("GET", "/v1/messages/" + id).status == 200);
}

BOOST_AUTO_TEST_CASE(a_sender_of_another_domain_is_refused) {
  must(change_project(*db, "default", std::vector<std::string>{"example.com"}, {}, "cli:test"));
  BOOST_TEST(send().status == 202);
  const auto answer =
      call("POST", "/v1/send", R"({"from":"a@evil.org","to":"x@b.de","subject":"s","text":"t"})");
  BOOST_TEST(answer.status == 403);
  BOOST_TEST(answer.body.find("\"/from\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_keys_limit_counts_messages_up_to_its_value) {
  const header_list as{
      {"Authorization", bearer(make_key({key_scope::admin}, "test", "default", 3))}};
  const auto two = R"({"content":{"from":"a@b.de","subject":"s","text":"t"},)"
                   R"("messages":[{"to":"x@b.de"},{"to":"y@b.de"}]})";
  BOOST_TEST(call("POST", "/v1/batch", two, as).status == 202);
  BOOST_TEST(call("POST", "/v1/batch", two, as).status == 429);
  BOOST_TEST(send({}, as).status == 202);
  const auto refused = send({}, as);
  BOOST_TEST(refused.status == 429);
  const auto wait = std::stoi(header(refused, "Retry-After"));
  BOOST_TEST(wait >= 1);
  BOOST_TEST(wait <= 61);
  BOOST_TEST(call("GET", "/v1/messages", {}, as).status == 429);
  BOOST_TEST(count("messages") == 3);
  const header_list less{
      {"Authorization", bearer(make_key({key_scope::send}, "test", "default", 1))}};
  BOOST_TEST(call("POST", "/v1/batch", two, less).status == 422); // waiting would not help
}

BOOST_AUTO_TEST_CASE(as_many_messages_wait_as_the_project_may_have_also_when_all_come_at_once) {
  must(change_project(*db, "default", {}, 10, "cli:test"));
  std::atomic<int> taken{0}, refused{0};
  at_once(16, [&](int) {
    const auto answer = send();
    taken += answer.status == 202 ? 1 : 0;
    refused += answer.status == 429 && !header(answer, "Retry-After").empty() ? 1 : 0;
  });
  BOOST_TEST(taken.load() == 10);
  BOOST_TEST(refused.load() == 6);
  BOOST_TEST(count("messages") == 10);
  const auto first = ask("SELECT min(id) FROM messages");
  BOOST_TEST(call("POST", "/v1/messages/" + first + "/cancel").status == 200);
  BOOST_TEST(send().status == 202);
  BOOST_TEST(send().status == 429);
}

BOOST_AUTO_TEST_CASE(a_repetition_is_answered_although_the_project_has_no_room) {
  must(change_project(*db, "default", {}, 1, "cli:test"));
  const header_list once{{"Idempotency-Key", "a"}};
  const auto first = send({}, once);
  BOOST_TEST(first.status == 202);
  BOOST_TEST(send().status == 429);
  const auto again = send({}, once);
  BOOST_TEST(again.status == 202);
  BOOST_TEST(again.body == first.body);
}

BOOST_AUTO_TEST_CASE(lists_at_once_are_few_and_a_send_goes_on_beside_them) {
  const auto blocker = connect();
  must(run(*blocker, "SELECT 1")); // connected
  pqxx::work lock{blocker->raw()};
  lock.exec("LOCK TABLE suppressions IN ACCESS EXCLUSIVE MODE");
  std::atomic<int> refused{0}, fine{0};
  std::thread readers([this, &refused, &fine] {
    at_once(16, [this, &refused, &fine](int) {
      const auto answer = call("GET", "/v1/suppressions");
      (answer.status == 503 ? refused : fine) += 1;
    });
  });
  wait_until("(SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock') = 2");
  BOOST_TEST(send().status == 202); // one of three connections is left
  BOOST_TEST(eventually([&refused] { return refused == 14; }));
  lock.abort();
  readers.join();
  BOOST_TEST(fine == 2);
}

BOOST_AUTO_TEST_SUITE_END()
