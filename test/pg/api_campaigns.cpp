/// Campaigns and suppressions by the API.
#include <boost/test/unit_test.hpp>

#include "test/pg/api_fixture.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

std::string campaign(const std::string& more = {}) {
  return R"({"name":"June","from":"a@b.de","subject":"s","text":"t")"
         + (more.empty() ? "" : "," + more) + "}";
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(api_campaigns, api_fixture)

BOOST_AUTO_TEST_CASE(a_campaign_is_drafted_filled_sent_paused_and_canceled) {
  const auto made = call("POST", "/v1/campaigns", campaign(R"("weight":7,"rate_cap":2.5)"));
  BOOST_TEST(made.status == 201);
  const auto path = "/v1/campaigns/" + member(made, "id");
  BOOST_TEST(member(call("GET", path), "state") == "draft");
  BOOST_TEST(call("POST", path + "/send").status == 409); // nobody would get it
  const auto page = call("POST", path + "/recipients",
                         R"({"recipients":[{"to":"x@b.de","fields":{"a":1}},{"to":"X@b.de"},)"
                         R"({"to":"y@b.de"}]})");
  BOOST_TEST(page.status == 200);
  BOOST_TEST(member(page, "added") == "2");
  BOOST_TEST(member(page, "duplicates") == "1");
  BOOST_TEST(member(page, "audience") == "2");
  const auto sent = call("POST", path + "/send");
  BOOST_TEST(sent.status == 200);
  BOOST_TEST(member(sent, "state") == "sending");
  BOOST_TEST(woken().back() == "test:sim");
  BOOST_TEST(call("POST", path + "/recipients", R"({"recipients":[{"to":"z@b.de"}]})").status
             == 409);
  BOOST_TEST(member(call("POST", path + "/pause", "{}"), "state") == "paused");
  BOOST_TEST(member(call("POST", path + "/resume"), "state") == "sending");
  BOOST_TEST(member(call("POST", path + "/cancel"), "state") == "canceled");
  BOOST_TEST(call("POST", path + "/resume").status == 409);
  BOOST_TEST(call("POST", path + "/cancel", R"({"why":1})").status == 400);
  BOOST_TEST(
      ask("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log WHERE actor LIKE 'key:%'")
          .find("cancel")
      != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_draft_that_somebody_holds_keeps_no_other_campaign_and_no_send_waiting) {
  const auto id = member(call("POST", "/v1/campaigns", campaign()), "id");
  const auto blocker = connect();
  must(run(*blocker, "SELECT 1")); // connected
  pqxx::work lock{blocker->raw()};
  lock.exec("SELECT FROM streams WHERE id = " + id + " FOR UPDATE");
  const auto start_append = [this, &id](const std::string& to) {
    return std::async(std::launch::async, [this, path = "/v1/campaigns/" + id + "/recipients",
                                           body = R"({"recipients":[{"to":")" + to + R"("}]})"] {
      return call("POST", path, body);
    });
  };
  const auto wait_for_stuck = [this](int count) {
    wait_until("(SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock') = "
               + std::to_string(count));
  };
  auto first = start_append("x@b.de");
  wait_for_stuck(1);
  BOOST_TEST(call("POST", "/v1/campaigns", campaign(R"("recipients":[{"to":"x@b.de"}])")).status
             == 201);
  // Three connections: one is left, however many calls wait for the draft.
  auto second = start_append("y@b.de"), third = start_append("z@b.de");
  wait_for_stuck(2);
  BOOST_TEST(send().status == 202);
  lock.abort();
  for (auto* each : {&first, &second, &third})
    BOOST_TEST(each->get().status == 200);
}

BOOST_AUTO_TEST_CASE(a_repeated_draft_is_one_campaign_with_its_recipients_once) {
  const header_list once{{"Idempotency-Key", "june"}};
  const auto body = campaign(R"("recipients":[{"to":"x@b.de"},{"to":"y@b.de"}])");
  const auto first = call("POST", "/v1/campaigns", body, once);
  const auto again = call("POST", "/v1/campaigns", body, once);
  BOOST_TEST(first.status == 201);
  BOOST_TEST(again.status == 201);
  BOOST_TEST(again.body == first.body);
  BOOST_TEST(header(again, "Idempotent-Replay") == "true");
  BOOST_TEST(count("campaigns") == 1);
  BOOST_TEST(ask("SELECT audience FROM campaigns") == "2");
  BOOST_TEST(call("POST", "/v1/campaigns", campaign(), once).status == 422);
  // What an interruption left out is added by the repetition.
  ask("DELETE FROM messages; DELETE FROM campaign_recipients; UPDATE campaigns SET audience = 0");
  BOOST_TEST(call("POST", "/v1/campaigns", body, once).body == first.body);
  BOOST_TEST(ask("SELECT audience FROM campaigns") == "2");
  BOOST_TEST(call("POST", "/v1/campaigns/" + member(first, "id") + "/send").status == 200);
  BOOST_TEST(call("POST", "/v1/campaigns", body, once).body == first.body);
}

BOOST_AUTO_TEST_CASE(a_draft_without_room_for_its_recipients_is_not_stored_and_keeps_its_key_free) {
  must(change_project(*db, "default", {}, 2, "cli:me"));
  const header_list once{{"Idempotency-Key", "july"}};
  const auto body = campaign(R"("recipients":[{"to":"x@b.de"},{"to":"y@b.de"}])");
  const auto waiting = send();
  BOOST_TEST_REQUIRE(waiting.status == 202);
  restart(); // what it remembers of the project is older than the change
  BOOST_TEST(call("POST", "/v1/campaigns", body, once).status == 429);
  BOOST_TEST(call("POST", "/v1/campaigns", body).status == 429);
  BOOST_TEST(count("campaigns") == 0);
  BOOST_TEST(call("POST", "/v1/messages/" + member(waiting, "id") + "/cancel").status == 200);
  const auto first = call("POST", "/v1/campaigns", body, once);
  BOOST_TEST(first.status == 201);
  BOOST_TEST(ask("SELECT audience FROM campaigns") == "2");
  // No room is left now, and none is needed.
  BOOST_TEST(call("POST", "/v1/campaigns", body, once).body == first.body);
}

BOOST_AUTO_TEST_CASE(campaigns_are_listed_newest_first_in_pages) {
  for (int i = 0; i < 3; ++i)
    BOOST_REQUIRE(call("POST", "/v1/campaigns", campaign()).status == 201);
  const auto first = call("GET", "/v1/campaigns?limit=2");
  const auto next = member(first, "next");
  BOOST_TEST(next != "null");
  const auto second = call("GET", "/v1/campaigns?limit=2&cursor=" + next);
  BOOST_TEST(member(second, "next") == "null");
  BOOST_TEST(member(second, "campaigns") != "[]");
  // A cursor belongs to its list.
  BOOST_TEST(call("GET", "/v1/messages?cursor=" + next).status == 400);
}

BOOST_AUTO_TEST_CASE(a_campaigns_fields_are_checked) {
  const auto answer = call("POST", "/v1/campaigns", campaign(R"("rate_cap":0,"prio":1)"));
  BOOST_TEST(answer.status == 400);
  BOOST_TEST(answer.body.find("\"/rate_cap\"") != std::string::npos);
  BOOST_TEST(answer.body.find("\"/prio\"") != std::string::npos);
  BOOST_TEST(count("campaigns") == 0);
}

BOOST_AUTO_TEST_CASE(an_address_is_one_in_whatever_spelling) {
  const auto made = call("POST", "/v1/suppressions", R"({"address":"TEST@test.com"})");
  BOOST_TEST(made.status == 200);
  BOOST_TEST(member(made, "added") == "1");
  BOOST_TEST(member(call("POST", "/v1/suppressions", R"({"addresses":["test@TEST.com"]})"), "added")
             == "0");
  for (const auto* spelling : {"TEST@test.com", "test@TEST.com", "test@test.com"})
    BOOST_TEST(call("GET", "/v1/suppressions/" + std::string{spelling}).status == 200, spelling);
  const auto sent = call("POST", "/v1/send",
                         R"({"from":"a@b.de","to":"Test@Test.com","subject":"s","text":"t"})");
  BOOST_TEST(sent.status == 202);
  BOOST_TEST(ask("SELECT recipients[1] = (SELECT address FROM suppressions) FROM messages") == "t");
  BOOST_TEST(call("GET", "/v1/messages?recipient=TEST@TEST.COM").body.find("test@test.com")
             != std::string::npos);
  BOOST_TEST(call("DELETE", "/v1/suppressions/tEST@test.COM").status == 204);
  BOOST_TEST(call("GET", "/v1/suppressions/TEST@test.com").status == 404);
  BOOST_TEST(call("DELETE", "/v1/suppressions/TEST@test.com").status == 404);
  BOOST_TEST(ask("SELECT count(*) FROM audit_log WHERE action = 'suppression.remove'") == "1");
}

BOOST_AUTO_TEST_CASE(suppressions_are_listed_in_pages) {
  call("POST", "/v1/suppressions", R"({"addresses":["c@b.de","a@b.de","b@b.de"]})");
  const auto first = call("GET", "/v1/suppressions?limit=2");
  BOOST_TEST(first.body.find("a@b.de") != std::string::npos);
  BOOST_TEST(first.body.find("c@b.de") == std::string::npos);
  const auto second = call("GET", "/v1/suppressions?limit=2&cursor=" + member(first, "next"));
  BOOST_TEST(second.body.find("c@b.de") != std::string::npos);
  BOOST_TEST(member(second, "next") == "null");
}

BOOST_AUTO_TEST_SUITE_END()
