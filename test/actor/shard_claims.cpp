// Claims in doubt, without an owner, of paused streams; slots that pass; a provider that fails.

#include <set>

#include <boost/test/unit_test.hpp>

#include "test/actor/shard_stage.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

namespace {

bool finishes(shard_stage& stage, nanoseconds within) {
  return stage.time.pass_until([&stage] { return stage.is_done(); }, within);
}

} // namespace

BOOST_AUTO_TEST_SUITE(shard_claims)

BOOST_AUTO_TEST_CASE(a_claim_in_doubt_is_repeated_with_the_same_group_and_sends_nothing_twice) {
  using enum database_fault;
  for (auto fault : {unavailable, in_doubt_before, in_doubt_after}) {
    shard_stage stage({1, 50});
    stage.add(stage.news, 200);
    stage.supervise();
    stage.time.pass(1s);
    auto& store = *stage.stores[0];
    const auto before = store.claimed.size();
    store.claims.faults = {fault, fault, none, fault};
    BOOST_TEST(finishes(stage, 30s));
    BOOST_TEST(stage.count(message_status::accepted) == 200);
    BOOST_TEST(stage.accepted_twice() == 0);
    const auto& first = store.claimed[before];
    const auto& again = store.claimed[before + 1];
    BOOST_TEST(again.group_no == first.group_no);
    BOOST_REQUIRE(again.rows.size() == first.rows.size());
    for (std::size_t i = 0; i < first.rows.size(); ++i)
      BOOST_TEST((again.rows[i].of == first.rows[i].of));
    BOOST_TEST(worst_excess(stage.ledger(), 50) <= 0);
  }
}

BOOST_AUTO_TEST_CASE(a_database_that_is_away_is_asked_less_and_less_often) {
  shard_stage stage({1, 50});
  stage.add(stage.news, 500);
  stage.supervise();
  stage.time.pass(2s);
  auto& store = *stage.stores[0];
  store.claims.away = store.reads.away = true;
  const auto before = store.statements();
  stage.time.pass(60s);
  BOOST_TEST(store.statements() - before < 40u);
  store.claims.away = store.reads.away = false;
  BOOST_TEST(finishes(stage, 40s));
  BOOST_TEST(stage.count(message_status::accepted) == 500);
}

BOOST_AUTO_TEST_CASE(a_claim_under_a_lost_ownership_stops_the_shard) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 200);
  stage.supervise();
  stage.time.pass(2s);
  stage.table.shards[shard_id{1}].epoch = epoch_id{999};
  stage.time.pass(2s);
  const auto claims = stage.stores[0]->claimed.size();
  const auto sent = stage.ledger().size();
  stage.time.pass(60s);
  BOOST_TEST(stage.stores[0]->claimed.size() == claims);
  BOOST_TEST(stage.ledger().size() == sent);
  BOOST_TEST(stage.log.lines("another owner").size() == 1u);
  BOOST_TEST(stage.count(message_status::attempting) == 0);
}

BOOST_AUTO_TEST_CASE(a_missed_slot_is_drawn_again_within_the_horizon) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 100);
  stage.supervise();
  stage.time.pass(2s);
  stage.desk.stall(300ms);
  BOOST_TEST(finishes(stage, 20s));
  BOOST_TEST(stage.count(message_status::accepted) == 100);
  for (const auto& [id, message] : stage.table.messages)
    BOOST_TEST(message.row.of.version == 0);
  BOOST_TEST(worst_excess(stage.ledger(), 20) <= 0);
}

BOOST_AUTO_TEST_CASE(a_slot_missed_beyond_the_horizon_gives_its_message_back) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 100);
  stage.supervise();
  stage.time.pass(2s);
  stage.desk.stall(3s);
  stage.time.pass(4s);
  BOOST_TEST(std::ranges::any_of(
      stage.table.messages, [](const auto& entry) { return entry.second.row.of.version == 1; }));
  BOOST_TEST(finishes(stage, 20s));
  BOOST_TEST(stage.count(message_status::accepted) == 100);
  BOOST_TEST(stage.accepted_twice() == 0);
  BOOST_TEST(worst_excess(stage.ledger(), 20) <= 0);
}

BOOST_AUTO_TEST_CASE(a_paused_route_starts_nothing_after_the_horizon_and_goes_on_when_resumed) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 100);
  stage.supervise();
  stage.time.pass(2s);
  stage.table.route.state = route_state::paused;
  stage.time.pass(1100ms);
  const auto sent = stage.ledger().size();
  BOOST_TEST(sent > 0u);
  stage.time.pass(30s);
  BOOST_TEST(stage.ledger().size() == sent);
  BOOST_TEST(stage.count(message_status::attempting) == 0);
  stage.table.route.state = route_state::running;
  BOOST_TEST(finishes(stage, 30s));
  BOOST_TEST(stage.count(message_status::accepted) == 100);
  BOOST_TEST(stage.accepted_twice() == 0);
  BOOST_TEST(worst_excess(stage.ledger(), 20) <= 0);
}

BOOST_AUTO_TEST_CASE(a_paused_streams_rows_are_given_back_and_go_when_it_resumes) {
  shard_stage stage({2, 20});
  stage.add(stage.news, 100);
  stage.supervise();
  stage.time.pass(2s);
  // The claim was done before the pause, its answer was lost: the repeat may start nothing.
  stage.stores[0]->claims.faults = {database_fault::in_doubt_after};
  stage.time.pass_until([&stage] { return stage.stores[0]->claims.faults.empty(); }, 1s);
  stage.time.pass(3ms);
  stage.table.stopped.insert(stage.news);
  stage.time.pass(3s);
  const auto sent = stage.ledger().size();
  stage.time.pass(5s);
  BOOST_TEST(stage.ledger().size() == sent);
  BOOST_TEST(stage.count(message_status::attempting) == 0);
  BOOST_TEST(std::ranges::any_of(stage.table.messages, [](const auto& entry) {
    return entry.second.reason == reason_code::stream_stopped;
  }));
  stage.table.stopped.clear();
  BOOST_TEST(finishes(stage, 20s));
  BOOST_TEST(stage.count(message_status::accepted) == 100);
  BOOST_TEST(stage.accepted_twice() == 0);
}

BOOST_AUTO_TEST_CASE(a_stream_that_pauses_while_it_is_read_leaves_nothing_behind) {
  shard_stage stage({1, 20});
  const auto ids = stage.add(stage.news, 10);
  stage.poll();
  stage.time.pass(3ms); // read, but not answered
  stage.table.stopped.insert(stage.news);
  stage.poll();
  stage.time.pass(1s);
  BOOST_TEST(stage.ledger().empty());
  for (auto id : ids) // another shard had them since and gave them back
    stage.table.messages.at(id).row.of.version = 1;
  stage.table.stopped.clear();
  stage.supervise();
  BOOST_TEST(finishes(stage, 10s));
  BOOST_TEST(stage.count(message_status::accepted) == 10);
}

BOOST_AUTO_TEST_CASE(a_suppressed_recipient_gets_nothing) {
  shard_stage stage({1, 20});
  const auto ids = stage.add(stage.news, 20);
  stage.table.suppressed.insert(stage.table.messages.at(ids[15]).row.recipients.front());
  stage.supervise();
  BOOST_TEST(finishes(stage, 10s));
  BOOST_TEST(stage.count(message_status::suppressed) == 1);
  BOOST_TEST(stage.count(message_status::accepted) == 19);
}

BOOST_AUTO_TEST_CASE(a_content_that_cannot_be_rendered_rejects_its_messages_and_the_rest_goes_on) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 5);
  stage.table.contents[content_id{2}] = {
      {content_id{2}, "a@example.org", "{{#open", "x", "", "{}"}};
  stage.add(stage.news, 5);
  stage.table.contents[content_id{3}] = {
      {content_id{3}, "a@example.org", "{{name}}", "x", "", "{}"}};
  stage.add(stage.news, 5, R"({"name":"one\r\nBcc: two"})");
  stage.add(stage.news, 5, R"({"name":"fine"})");
  stage.supervise();
  BOOST_TEST(finishes(stage, 10s));
  BOOST_TEST(stage.count(message_status::rendering_failed) == 10);
  BOOST_TEST(stage.count(message_status::accepted) == 10);
}

BOOST_AUTO_TEST_CASE(a_sender_whose_domain_is_taken_away_sends_nothing_after_ten_seconds) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 400);
  stage.supervise();
  stage.time.pass(3s);
  BOOST_TEST(stage.count(message_status::accepted) > 20);
  stage.table.contents.at(content_id{1}).sender_allowed = false;
  BOOST_TEST(finishes(stage, 60s));
  // What was read ahead before the new word came goes out: 10 s, a second's worth and a group.
  BOOST_TEST(stage.count(message_status::accepted) <= 20 * 15);
  BOOST_TEST(stage.count(message_status::accepted) + stage.count(message_status::rejected) == 400);
  BOOST_TEST(std::ranges::any_of(stage.table.messages, [](const auto& entry) {
    return entry.second.reason == reason_code::sender_not_allowed;
  }));
}

BOOST_AUTO_TEST_CASE(messages_of_a_revoked_key_are_canceled_and_others_go_on) {
  shard_stage stage({1, 20});
  const auto ids = stage.add(stage.news, 20);
  for (int i = 5; i < 10; ++i)
    stage.table.messages.at(ids[static_cast<std::size_t>(i)]).row.key = key_id{5};
  stage.table.revoked.insert(key_id{5});
  stage.supervise();
  BOOST_TEST(finishes(stage, 10s));
  BOOST_TEST(stage.count(message_status::canceled) == 5);
  BOOST_TEST(stage.count(message_status::accepted) == 15);
}

BOOST_AUTO_TEST_CASE(five_unknown_in_a_row_stop_claims_and_probes_bring_them_back) {
  shard_stage stage({1, 50});
  stage.add(stage.news, 400);
  bool is_broken = false;
  stage.desk.answer = [&is_broken](const call&) {
    provider_answer given;
    given.kind = is_broken ? outcome_kind::unknown : outcome_kind::accepted;
    given.reason = is_broken ? reason_code::provider_server_error : reason_code::none;
    return given;
  };
  stage.supervise();
  stage.time.pass(2s);
  is_broken = true;
  stage.time.pass(30s);
  // At most 20 and what was in flight (170 ms of latency, 250 ms of a group and its lead).
  BOOST_TEST(stage.count(message_status::acceptance_unknown) >= 5);
  BOOST_TEST(stage.count(message_status::acceptance_unknown) <= 20 + 26);
  is_broken = false;
  BOOST_TEST(finishes(stage, 90s));
  BOOST_TEST(stage.count(message_status::accepted) + stage.count(message_status::acceptance_unknown)
             == 400);
  BOOST_TEST(stage.accepted_twice() == 0);
}

BOOST_AUTO_TEST_CASE(an_outage_that_has_used_up_its_probes_ends_when_the_provider_lives) {
  shard_stage stage({1, 50});
  stage.add(stage.news, 400);
  bool is_broken = true;
  stage.desk.answer = [&is_broken](const call&) {
    provider_answer given;
    given.kind = is_broken ? outcome_kind::unknown : outcome_kind::accepted;
    return given;
  };
  stage.supervise();
  stage.time.pass(30min);
  const auto tried = stage.ledger().size();
  is_broken = false;
  stage.time.pass(5min);
  BOOST_TEST(stage.ledger().size() == tried);
  stage.desk.lives = true;
  BOOST_TEST(finishes(stage, 60s));
  BOOST_TEST(stage.accepted_twice() == 0);
}

BOOST_AUTO_TEST_CASE(a_throttled_message_goes_again_later_and_the_quota_actor_hears_of_it) {
  shard_stage stage({1, 20});
  stage.add(stage.news, 20);
  int refused = 0;
  stage.desk.answer = [&refused](const call& what) {
    provider_answer given;
    given.kind = outcome_kind::accepted;
    if (what.message().of.version == 0 && refused < 3) {
      ++refused;
      given.kind = outcome_kind::throttled;
      given.refused = refusal::rate;
      given.reason = reason_code::provider_throttled;
    }
    return given;
  };
  stage.supervise();
  BOOST_TEST(finishes(stage, 20s));
  BOOST_TEST(stage.count(message_status::accepted) == 20);
  BOOST_TEST(stage.accepted_twice() == 0);
  BOOST_TEST(stage.quota.refusals.size() == 3u);
  BOOST_TEST((stage.quota.refusals[0].what == refusal::rate));
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_beyond_the_daily_grants) {
  shard_stage stage({2, 20});
  stage.table.route.daily_limited = true;
  stage.table.daily_left = 60;
  stage.add(stage.news, 200);
  stage.supervise();
  stage.renew();
  stage.time.pass(30s);
  BOOST_TEST(stage.ledger().size() == 60u);
  BOOST_TEST(stage.stores[0]->grants_asked + stage.stores[1]->grants_asked < 15);
  stage.table.daily_left = 1000; // the quota actor has asked again
  stage.table.route.state = route_state::running;
  BOOST_TEST(finishes(stage, 120s));
  BOOST_TEST(stage.count(message_status::accepted) == 200);
}

BOOST_AUTO_TEST_CASE(a_grant_that_could_not_be_drawn_is_not_asked_for_without_a_pause) {
  shard_stage stage({1, 20});
  stage.table.route.daily_limited = true;
  stage.add(stage.news, 50);
  stage.renew();
  stage.stores[0]->grants.faults.assign(8, database_fault::unavailable);
  stage.supervise();
  stage.time.pass(500ms);
  BOOST_TEST(stage.stores[0]->grants_asked < 5);
  BOOST_TEST(finishes(stage, 60s));
}

BOOST_AUTO_TEST_CASE(claiming_stops_while_outcomes_wait_for_the_database) {
  stage_plan plan{2, 50};
  plan.outcomes_waiting = 100;
  shard_stage stage(plan);
  stage.add(stage.news, 1000);
  stage.records.connection.away = true;
  stage.supervise();
  stage.time.pass(20s);
  // The bound, what was in flight (170 ms) and the groups claimed by then (about 325 ms each).
  BOOST_TEST(stage.ledger().size() >= 100u);
  BOOST_TEST(stage.ledger().size() <= 150u);
  stage.records.connection.away = false;
  BOOST_TEST(finishes(stage, 60s));
  BOOST_TEST(stage.count(message_status::accepted) == 1000);
  BOOST_TEST(stage.accepted_twice() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
