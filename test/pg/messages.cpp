/// Messages as people see them: accept, look up, page, resolve; and contents.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/contents.hpp"
#include "storage/messages.hpp"
#include "storage/streams.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

struct messages_fixture : dispatch_fixture {
  new_message letter() {
    new_message made;
    made.route = route;
    made.what.sender = "Shop <shop@example.org>";
    made.what.subject = "Your order";
    made.what.headers = R"({"X-Order": "1",  "X-A": "2"})";
    made.recipients = {"b@example.org"};
    return made;
  }
  /// An accepted message whose only attempt ended in doubt.
  message_id make_unknown() {
    const auto id = must(accept_message(*db, ids, letter()));
    const auto claimed = claim_due(must(show_message(*db, id)).stream, ++groups);
    must(record_outcomes(*db, {make_outcome(claimed.at(0), outcome_kind::unknown)}, {}, 1));
    return id;
  }
  int groups = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(messages, messages_fixture)

BOOST_AUTO_TEST_CASE(an_accepted_message_is_due_and_counted) {
  auto message = letter();
  message.expires_in = std::chrono::hours{1};
  const auto id = must(accept_message(*db, ids, message));
  const auto view = must(show_message(*db, id));
  BOOST_TEST((view.status == message_status::queued));
  BOOST_TEST(view.subject == "Your order");
  BOOST_TEST(view.route == "test:local");
  BOOST_TEST(view.expires_at > view.created_at);
  BOOST_TEST(due(view.stream).size() == 1U);
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_message_for_later_is_not_due_now) {
  auto message = letter();
  message.send_in = std::chrono::hours{1};
  const auto id = must(accept_message(*db, ids, message));
  BOOST_TEST(due(must(show_message(*db, id)).stream).empty());
}

BOOST_AUTO_TEST_CASE(a_message_that_cannot_be_stored_leaves_nothing) {
  auto message = letter();
  message.recipients.clear();
  BOOST_TEST((accept_message(*db, ids, message).failure().kind == error_kind::invalid));
  message = letter();
  message.fields = "no JSON";
  BOOST_TEST((accept_message(*db, ids, message).failure().kind == error_kind::data));
  BOOST_TEST(ask("SELECT count(*) FROM contents") == "0");
}

BOOST_AUTO_TEST_CASE(a_content_comes_back_exactly_and_an_edited_one_is_noticed) {
  must(accept_message(*db, ids, letter()));
  const content_id id{std::stoll(ask("SELECT id FROM contents"))};
  const auto found = must(load_content(*db, id));
  BOOST_TEST(found.headers == letter().what.headers);
  BOOST_TEST(found.sender == letter().what.sender);
  ask("UPDATE contents SET subject = 'Your 0rder'");
  BOOST_TEST((load_content(*db, id).failure().kind == error_kind::data));
  BOOST_TEST((load_content(*db, content_id{1}).failure().kind == error_kind::not_found));
}

BOOST_AUTO_TEST_CASE(text_moved_between_parts_gives_another_hash) {
  content one, other;
  one.subject = "ab";
  other.sender = "ab";
  BOOST_TEST((content_hash(one) != content_hash(other)));
}

BOOST_AUTO_TEST_CASE(lists_go_page_by_page_from_the_newest_and_filter) {
  const auto campaign = make_campaign(25);
  must(accept_message(*db, ids, letter()));
  message_filter filter;
  filter.campaign = campaign;
  filter.limit = 10;
  std::vector<std::size_t> sizes;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  while (true) {
    const auto page = must(list_messages(*db, filter));
    sizes.push_back(page.rows.size());
    for (const auto& view : page.rows) {
      BOOST_TEST(view.id.value() < last);
      last = view.id.value();
    }
    filter.before = page.next;
    if (page.next == message_id{})
      break;
  }
  BOOST_TEST(sizes == (std::vector<std::size_t>{10, 10, 5}), boost::test_tools::per_element());
  filter = {};
  filter.recipient = "r7@example.org";
  BOOST_TEST(must(list_messages(*db, filter)).rows.size() == 1U);
  claim_due(campaign, 1, 3);
  filter = {};
  filter.status = message_status::attempting;
  BOOST_TEST(must(list_messages(*db, filter)).rows.size() == 3U);
  filter = {};
  BOOST_TEST(must(list_messages(*db, filter)).rows.size() == 26U);
}

BOOST_AUTO_TEST_CASE(lists_are_kept_to_a_project_and_an_environment) {
  must(accept_message(*db, ids, letter()));
  message_filter filter;
  filter.project = project_id{1};
  filter.environment = "test";
  BOOST_TEST(must(list_messages(*db, filter)).rows.size() == 1U);
  filter.environment = "live";
  BOOST_TEST(must(list_messages(*db, filter)).rows.empty());
  filter.environment.reset();
  filter.project = project_id{2};
  BOOST_TEST(must(list_messages(*db, filter)).rows.empty());
}

BOOST_AUTO_TEST_CASE(a_rare_address_costs_several_short_calls) {
  const auto id = must(accept_message(*db, ids, letter()));
  make_campaign(20'050, false);
  message_filter filter;
  filter.recipient = "b@example.org";
  const auto first = must(list_messages(*db, filter));
  BOOST_TEST(first.rows.empty());
  BOOST_REQUIRE((first.next != message_id{}));
  filter.before = first.next;
  const auto second = must(list_messages(*db, filter));
  BOOST_REQUIRE(second.rows.size() == 1U);
  BOOST_TEST(second.rows[0].id.value() == id.value());
  BOOST_TEST((second.next == message_id{}));
}

BOOST_AUTO_TEST_CASE(a_queued_message_can_be_canceled_and_only_that) {
  const auto id = must(accept_message(*db, ids, letter()));
  const auto rows = due(must(show_message(*db, id)).stream);
  for (int i = 0; i < 2; ++i) // repeatable
    BOOST_TEST((must(cancel_message(*db, id, 0, "key:1")).status == message_status::canceled));
  BOOST_TEST((must(show_message(*db, id)).reason == reason_code::operator_canceled));
  BOOST_TEST(ask("SELECT count(*) FROM audit_log WHERE action = 'message.cancel'") == "1");
  BOOST_TEST(must(claim_group(*db, ask_for(rows, 1))).rows.empty());
  const auto unknown = make_unknown();
  const auto refused = cancel_message(*db, unknown, 0, "key:1");
  BOOST_TEST((refused.failure().kind == error_kind::refused));
  BOOST_TEST(refused.failure().text.find("acceptance_unknown") != std::string::npos);
  BOOST_TEST((cancel_message(*db, message_id{1}, 0, "k").failure().kind == error_kind::not_found));
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_cancel_waits_for_a_claim_and_is_refused_then) {
  const auto id = must(accept_message(*db, ids, letter()));
  const auto request = ask_for(due(must(show_message(*db, id)).stream), 1);
  const auto other = connect();
  std::future<result<message_view>> canceling;
  must(db->in_transaction([&](session& open) {
    auto claimed = claim_group(open, request);
    canceling = start_blocked(*other, [&] { return cancel_message(*other, id, 0, "key:1"); });
    return claimed;
  }));
  const auto refused = canceling.get();
  BOOST_TEST(refused.failure().text.find("may have started") != std::string::npos);
  BOOST_TEST(states(must(show_message(*db, id)).stream) == "attempting=1");
}

BOOST_AUTO_TEST_CASE(a_priority_has_a_stream_of_its_own) {
  auto message = letter();
  const auto first = must(show_message(*db, must(accept_message(*db, ids, message))));
  message.priority = 5;
  const auto second = must(show_message(*db, must(accept_message(*db, ids, message))));
  BOOST_TEST(first.stream.value() != second.stream.value());
  const auto streams = must(due_streams(*db, {route}));
  BOOST_REQUIRE(streams.size() == 2U);
  BOOST_TEST(streams[1].priority == 5);
}

BOOST_AUTO_TEST_CASE(what_is_not_expanded_yet_is_shown_as_queued) {
  make_campaign(2, false);
  message_filter filter;
  filter.status = message_status::queued;
  const auto all = must(list_messages(*db, filter)).rows;
  BOOST_TEST(all.size() == 2U);
  BOOST_TEST(all.front().due_at == "");
}

BOOST_AUTO_TEST_CASE(an_operator_resolves_only_what_is_unknown) {
  const auto accepted = make_unknown(), rejected = make_unknown();
  must(resolve_message(*db, ids, accepted, resolution::accepted, 1, "cli:me"));
  must(resolve_message(*db, ids, rejected, resolution::rejected, 1, "cli:me"));
  BOOST_TEST((must(show_message(*db, accepted)).status == message_status::accepted));
  BOOST_TEST((must(show_message(*db, rejected)).status == message_status::rejected));
  const auto again = resolve_message(*db, ids, accepted, resolution::rejected, 1, "cli:me");
  BOOST_TEST((again.failure().kind == error_kind::refused));
  const auto none = resolve_message(*db, ids, message_id{1}, resolution::send_again, 1, "cli:me");
  BOOST_TEST((none.failure().kind == error_kind::not_found));
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(sending_again_closes_the_old_message_and_makes_one_outside_the_campaign) {
  const auto campaign = make_campaign(1);
  const auto old = claim_due(campaign, 1).at(0);
  must(record_outcomes(*db, {make_outcome(old, outcome_kind::unknown)}, {}, 1));
  BOOST_TEST(must(finish_campaign(*db, campaign)));
  const auto resolved =
      must(resolve_message(*db, ids, old.message, resolution::send_again, 1, "cli:me"));
  const auto closed = must(show_message(*db, old.message));
  BOOST_TEST((closed.status == message_status::rejected));
  BOOST_TEST((closed.reason == reason_code::operator_resolved));
  const auto fresh = must(show_message(*db, resolved.resent_as.value()));
  BOOST_TEST(fresh.recipients == closed.recipients, boost::test_tools::per_element());
  BOOST_TEST(fresh.stream.value() != campaign.value());
  BOOST_TEST(due(fresh.stream).size() == 1U);
  BOOST_TEST(ask("SELECT resend_of FROM messages WHERE resend_of IS NOT NULL")
             == std::to_string(old.message.value()));
  const auto twice = resolve_message(*db, ids, old.message, resolution::send_again, 1, "cli:me");
  BOOST_TEST((twice.failure().kind == error_kind::refused));
  BOOST_TEST(ask("SELECT subject || detail FROM audit_log WHERE action = 'message.resolve'")
             == std::to_string(old.message.value()) + R"({"as":"send-again"})");
  BOOST_TEST(must(show_campaign(*db, campaign)).state == "finished");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_SUITE_END()
