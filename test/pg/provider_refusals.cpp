/// What the provider's refusals do to messages, campaigns and routes, and that people see why.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/intake.hpp"
#include "storage/messages.hpp"
#include "storage/operations.hpp"
#include "storage/quota.hpp"
#include "storage/streams.hpp"

using namespace paceline;
using namespace paceline::test;
using std::chrono::seconds;

namespace {

struct refusals_fixture : dispatch_fixture {
  void record(const attempt& of, outcome_kind kind, reason_code reason) {
    auto made = make_outcome(of, kind);
    made.reason = reason;
    BOOST_TEST(must(record_outcomes(*db, {made}, {}, 1)).changed == 1);
  }
  std::string wait_of(const attempt& of) {
    return ask("SELECT round(extract(epoch FROM due_at - changed_at)) FROM message_states WHERE id "
               "= "
               + std::to_string(of.message.value()));
  }
  /// The seconds that the campaign's one message waits after each of six attempts.
  std::string waits(outcome_kind kind, reason_code reason) {
    const auto campaign = make_campaign(1);
    std::string all;
    for (int i = 0; i < 6; ++i) {
      const auto of = claim_due(campaign, ++group_).at(0);
      record(of, kind, reason);
      all += wait_of(of) + " ";
      ask("UPDATE message_states SET due_at = clock_timestamp()");
    }
    BOOST_TEST(counters_match());
    return all;
  }
  std::string state_of(stream_id stream) {
    return ask("SELECT state || ': ' || state_reason FROM streams WHERE id = "
               + std::to_string(stream.value()));
  }
  int group_ = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(provider_refusals, refusals_fixture)

BOOST_AUTO_TEST_CASE(an_unreachable_provider_is_tried_2_4_8_16_32_and_then_32_seconds_later) {
  const std::string doubling = "2 4 8 16 32 32 ";
  for (const auto reason : {reason_code::provider_unreachable, reason_code::provider_unavailable,
                            reason_code::signature_refused})
    BOOST_TEST(waits(outcome_kind::not_started, reason) == doubling);
  BOOST_TEST(waits(outcome_kind::throttled, reason_code::provider_unavailable) == doubling);
}

BOOST_AUTO_TEST_CASE(what_never_was_tried_is_due_at_once) {
  for (const auto reason : {reason_code::slot_missed, reason_code::batch_refused,
                            reason_code::ownership_lost, reason_code::provider_down})
    BOOST_TEST(waits(outcome_kind::not_started, reason) == "0 0 0 0 0 0 ");
}

BOOST_AUTO_TEST_CASE(what_was_refused_with_others_goes_alone_until_it_has_an_outcome) {
  const auto campaign = make_campaign(2);
  const auto claimed = claim_due(campaign, 1);
  record(claimed[0], outcome_kind::not_started, reason_code::batch_refused);
  record(claimed[1], outcome_kind::not_started, reason_code::slot_missed);
  auto rows = due(campaign);
  BOOST_REQUIRE(rows.size() == 2U);
  for (const auto& row : rows)
    BOOST_TEST(row.alone == (row.of.message == claimed[0].message));
  // It lost its slot, and was refused for the rate: still it has to go alone.
  for (const auto kind : {outcome_kind::not_started, outcome_kind::throttled}) {
    for (const auto& of : claim_due(campaign, kind == outcome_kind::throttled ? 3 : 2))
      record(of, kind, reason_code::slot_missed);
    ask("UPDATE message_states SET due_at = clock_timestamp()");
  }
  rows = due(campaign);
  for (const auto& row : rows)
    BOOST_TEST(row.alone == (row.of.message == claimed[0].message));
  for (const auto& of : claim_due(campaign, 4))
    record(of, outcome_kind::rejected, reason_code::provider_rejected);
  BOOST_TEST(
      (must(show_message(*db, claimed[0].message)).reason == reason_code::provider_rejected));
}

BOOST_AUTO_TEST_CASE(a_reserved_message_has_its_tags_and_addresses) {
  intake_call call;
  call.environment = "test";
  call.route = route;
  call.stream = must(direct_stream(*db, route, project_id{1}));
  call.contents.emplace_back().id = content_id{ids.next(1)};
  call.contents[0].sender = "a@example.org";
  for (int i = 0; i < 2; ++i) {
    call.messages.emplace_back().id = message_id{ids.next(1)};
    call.messages.back().recipients = {"r@example.org"};
  }
  call.messages[0].tags = R"({"order": "1"})";
  call.messages[0].addresses = R"({"to": ["R <r@example.org>"]})";
  const intake_call* const only[] = {&call};
  must(take_in(*db, only));
  const auto rows = due(call.stream);
  BOOST_REQUIRE(rows.size() == 2U);
  BOOST_TEST(rows[0].tags.value() == R"({"order": "1"})");
  BOOST_TEST(rows[0].addresses.value() == R"({"to": ["R <r@example.org>"]})");
  BOOST_TEST(!rows[0].alone);
  BOOST_TEST(!rows[1].tags.has_value());
  BOOST_TEST(!rows[1].addresses.has_value());
}

BOOST_AUTO_TEST_CASE(a_refused_campaign_pauses_with_its_reason_until_it_is_resumed) {
  const auto campaign = make_campaign(2);
  const std::string reason = "sender not verified\x01: a@example.org";
  for (int i = 0; i < 2; ++i)
    BOOST_TEST((must(pause_stream_with_reason(*db, campaign, reason)) == stream_kind::campaign));
  const auto paused = must(show_campaign(*db, campaign));
  BOOST_TEST(paused.state == "paused");
  BOOST_TEST(paused.state_reason == "sender not verified: a@example.org");
  BOOST_TEST(must(list_campaigns(*db, {})).at(0).state_reason == paused.state_reason);
  BOOST_TEST(must(claim_group(*db, ask_for(due(campaign), 1))).rows.empty());
  BOOST_TEST(ask("SELECT count(*) FROM audit_log WHERE action = 'campaign.pause' AND actor = "
                 "'provider'")
             == "1");
  must(resume_campaign(*db, campaign, "cli:test"));
  BOOST_TEST(must(show_campaign(*db, campaign)).state_reason == "");
  BOOST_TEST(state_of(campaign) == "running: ");
  BOOST_TEST(claim_due(campaign, 1).size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_campaign_that_is_not_being_sent_and_direct_mail_are_left_alone) {
  const auto paused = make_campaign(1), canceled = make_campaign(1);
  must(pause_campaign(*db, paused, "cli:test"));
  must(cancel_campaign(*db, canceled, "cli:test"));
  const auto direct = must(direct_stream(*db, route, project_id{1}));
  for (const auto stream : {paused, canceled, direct})
    must(pause_stream_with_reason(*db, stream, "no"));
  BOOST_TEST((must(pause_stream_with_reason(*db, direct, "no")) == stream_kind::direct));
  BOOST_TEST(state_of(paused) == "paused: ");
  BOOST_TEST(state_of(canceled) == "canceled: ");
  BOOST_TEST(state_of(direct) == "running: ");
  BOOST_TEST(
      (pause_stream_with_reason(*db, stream_id{1}, "no").failure().kind == error_kind::not_found));
}

BOOST_AUTO_TEST_CASE(a_waiting_route_says_why_and_its_campaigns_show_it) {
  const auto campaign = make_campaign(1);
  must(wait_route(*db, route, "provider unreachable: refused", seconds{60}));
  auto shown = must(show_campaign(*db, campaign));
  BOOST_TEST((shown.at_route == route_state::waiting));
  BOOST_TEST(shown.route_reason == "provider unreachable: refused");
  // The longer wait stays, with its reason.
  must(wait_route(*db, route, "other", seconds{5}));
  must(wait_route(*db, route, "provider unreachable: timeout", seconds{90}));
  const auto read = must(read_route(*db, route));
  BOOST_TEST(read.state_reason == "provider unreachable: timeout");
  BOOST_TEST((read.waiting_left > seconds{80}));
  ask("UPDATE routes SET waiting_until = clock_timestamp()");
  shown = must(show_campaign(*db, campaign));
  BOOST_TEST((shown.at_route == route_state::running));
  BOOST_TEST(shown.route_reason == "");
}

BOOST_AUTO_TEST_CASE(a_quota_reading_ends_a_wait_for_the_quota_and_no_other) {
  const quota_reading quota{rate::per_second(5), 100, 0};
  must(wait_route(*db, route, "provider unreachable: refused", seconds{60}));
  must(store_quota(*db, route, quota));
  BOOST_TEST((must(read_route(*db, route)).state == route_state::waiting));
  ask("UPDATE routes SET waiting_until = clock_timestamp()");
  must(store_quota(*db, route, quota));
  BOOST_TEST(ask("SELECT state || state_reason FROM routes") == "running");
  must(wait_for_daily_quota(*db, route, seconds{60}));
  must(store_quota(*db, route, quota));
  BOOST_TEST(ask("SELECT state || state_reason FROM routes") == "running");
}

BOOST_AUTO_TEST_CASE(an_operator_may_end_a_wait_for_anything_but_the_quota) {
  must(wait_route(*db, route, "provider unreachable: refused", seconds{60}));
  BOOST_TEST(must(resume_route(*db, route, "cli:test")) == "waiting");
  BOOST_TEST((must(read_route(*db, route)).state == route_state::running));
  must(wait_for_daily_quota(*db, route, seconds{60}));
  BOOST_TEST((resume_route(*db, route, "cli:test").failure().kind == error_kind::refused));
}

BOOST_AUTO_TEST_SUITE_END()
