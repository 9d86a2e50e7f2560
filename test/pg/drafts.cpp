/// Campaigns put together by several calls.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/drafts.hpp"
#include "storage/keys.hpp"
#include "storage/messages.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

struct drafts_fixture : dispatch_fixture {
  new_draft wanted() {
    new_draft draft;
    draft.id = stream_id{ids.next(1'800'000'000'000)};
    draft.name = "spring";
    draft.route = route;
    draft.what.sender = "a@example.org";
    return draft;
  }
  stream_id make() { return must(create(wanted())).campaign; }
  result<draft_reply> create(const new_draft& draft, std::optional<idempotency> once = {}) {
    return create_draft(*db, ids, draft, "test", once, "key:1");
  }
  /// Members r<first>@example.org and so on.
  append_reply append(stream_id draft, int first, int count) {
    std::vector<audience_member> members;
    for (int i = first; i < first + count; ++i)
      members.push_back({std::string{"r"}.append(std::to_string(i)).append("@example.org"), "{}"});
    return must(append_recipients(*db, ids, draft, members));
  }
  void accept_direct(int count) {
    new_message message;
    message.route = route;
    message.what.sender = "a@example.org";
    message.recipients = {"b@example.org"};
    for (int i = 0; i < count; ++i)
      must(accept_message(*db, ids, message));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(drafts, drafts_fixture)

BOOST_AUTO_TEST_CASE(a_draft_grows_page_by_page_and_takes_an_address_once) {
  const auto draft = make();
  const auto first = append(draft, 0, 10);
  BOOST_TEST(first.added == 10);
  BOOST_TEST(append(draft, 0, 10).added == 0); // repeated
  const auto second = append(draft, 5, 10);
  BOOST_TEST(second.added == 5);
  BOOST_TEST(second.duplicates == 5);
  BOOST_TEST(second.audience == 15);
  const auto twice = must(append_recipients(
      *db, ids, draft, {{"x@example.org", "{}"}, {"x@example.org", R"({"a": 1})"}}));
  BOOST_TEST(twice.added == 1);
  BOOST_TEST(ask("SELECT fields FROM messages WHERE recipients = '{x@example.org}'") == "{}");
  BOOST_TEST(ask("SELECT string_agg(ordinal::text, ' ' ORDER BY id) FROM messages")
             == "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
  const auto view = must(show_campaign(*db, draft));
  BOOST_TEST(view.state == "draft");
  BOOST_TEST(view.audience == 16);
  BOOST_TEST(must(open_campaigns(*db, {route})).empty());
  BOOST_TEST(must(outstanding_messages(*db, project_id{1}, "test")) == 16);
}

BOOST_AUTO_TEST_CASE(a_full_page_takes_five_thousand) {
  const auto draft = make();
  BOOST_TEST(append(draft, 0, 5000).added == 5000);
  BOOST_TEST(append(draft, 2500, 5000).added == 2500);
  std::vector<audience_member> too_many(5001, {"a@example.org", "{}"});
  BOOST_TEST((append_recipients(*db, ids, draft, too_many).failure().kind == error_kind::invalid));
  BOOST_TEST((append_recipients(*db, ids, draft, {}).failure().kind == error_kind::invalid));
}

BOOST_AUTO_TEST_CASE(a_sent_draft_is_expanded_though_other_messages_lie_between_its_own) {
  const auto draft = make();
  append(draft, 0, 3);
  accept_direct(40);
  append(draft, 3, 3);
  must(send_draft(*db, draft, "key:1"));
  must(send_draft(*db, draft, "key:1")); // repeatable
  int pages = 0;
  while (true) {
    const auto page = must(expand_page(*db, draft, 4, 0));
    ++pages;
    if (page.done)
      break;
    BOOST_REQUIRE(page.moved);
  }
  BOOST_TEST(pages == 3); // 3 of its own, 20 others' ids and the last 3
  BOOST_TEST(states(draft) == "queued=6");
  BOOST_TEST(counters_match());
  BOOST_TEST(claim_due(draft, 1).size() == 6U);
  message_filter filter;
  filter.campaign = draft;
  BOOST_TEST(must(list_messages(*db, filter)).rows.size() == 6U);
}

BOOST_AUTO_TEST_CASE(only_a_draft_with_recipients_can_be_sent_and_only_a_draft_grows) {
  const auto draft = make();
  BOOST_TEST((send_draft(*db, draft, "key:1").failure().kind == error_kind::refused));
  append(draft, 0, 1);
  must(send_draft(*db, draft, "key:1"));
  const auto late = append_recipients(*db, ids, draft, {{"z@example.org", "{}"}});
  BOOST_TEST((late.failure().kind == error_kind::refused));
  BOOST_TEST(late.failure().text.find("sending") != std::string::npos);
  must(pause_campaign(*db, draft, "key:1"));
  BOOST_TEST((send_draft(*db, draft, "key:1").failure().kind == error_kind::refused));
  BOOST_TEST((send_draft(*db, stream_id{1}, "key:1").failure().kind == error_kind::not_found));
  BOOST_TEST(ask("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log")
             == "campaign.create campaign.send campaign.pause");
}

BOOST_AUTO_TEST_CASE(a_canceled_draft_is_over) {
  const auto draft = make();
  append(draft, 0, 2);
  must(cancel_campaign(*db, draft, "key:1"));
  BOOST_TEST(must(show_campaign(*db, draft)).finished_at != "");
  BOOST_TEST((send_draft(*db, draft, "key:1").failure().kind == error_kind::refused));
  message_filter filter;
  filter.status = message_status::canceled;
  BOOST_TEST(must(list_messages(*db, filter)).rows.size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_draft_is_made_once_per_idempotency_key) {
  idempotency once;
  once.key = "k";
  once.response = "first";
  const auto draft = wanted();
  BOOST_TEST((must(create(draft, once)).once.verdict == intake_verdict::stored));
  BOOST_TEST((must(create(draft, once)).once.verdict == intake_verdict::stored)); // ours
  const auto reply = must(create(wanted(), once));
  BOOST_TEST((reply.once.verdict == intake_verdict::replayed));
  BOOST_TEST(reply.once.response == "first");
  BOOST_TEST(ask("SELECT count(*) FROM campaigns") == "1");
}

BOOST_AUTO_TEST_CASE(drafts_of_a_revoked_key_are_not_made_and_their_messages_not_claimed) {
  new_key key;
  key.environment = "test";
  key.name = "shop";
  key.scopes = {key_scope::send};
  auto draft = wanted();
  draft.key = must(create_key(*db, ids, key, "cli:test"));
  const auto id = must(create(draft)).campaign;
  append(id, 0, 2);
  must(send_draft(*db, id, "key:1"));
  must(expand_page(*db, id, 10, 0));
  must(revoke_key(*db, draft.key, "cli:test"));
  BOOST_TEST(claim_due(id, 1).empty());
  draft.id = wanted().id;
  BOOST_TEST((must(create(draft)).once.verdict == intake_verdict::key_ended));
}

BOOST_AUTO_TEST_CASE(addresses_are_forgotten_page_by_page_once_a_draft_is_sent) {
  const auto sent = make(), kept = make();
  append(sent, 0, 5);
  append(kept, 0, 5);
  BOOST_TEST(must(forget_recipients(*db, 3)) == 0);
  must(send_draft(*db, sent, "key:1"));
  BOOST_TEST(must(forget_recipients(*db, 3)) == 3);
  BOOST_TEST(must(forget_recipients(*db, 3)) == 2);
  BOOST_TEST(must(forget_recipients(*db, 3)) == 0);
  BOOST_TEST(ask("SELECT count(*) FROM campaign_recipients") == "5");
  BOOST_TEST(append(kept, 0, 5).added == 0);
}

BOOST_AUTO_TEST_SUITE_END()
