/// Claims against everything that happens at the same time, played step by step.
#include "test/pg/dispatch_fixture.hpp"

#include <set>

#include <boost/test/unit_test.hpp>

#include "storage/messages.hpp"
#include "storage/suppressions.hpp"

using namespace paceline;
using namespace paceline::test;

BOOST_FIXTURE_TEST_SUITE(claims, dispatch_fixture)

BOOST_AUTO_TEST_CASE(a_claim_moves_its_rows_and_stores_the_gate_which_only_rises) {
  const auto campaign = make_campaign(10);
  const auto rows = due(campaign);
  auto request = ask_for({rows.begin(), rows.begin() + 6}, 1);
  request.gate = database_instant{nanoseconds{500}};
  const auto reply = must(claim_group(*db, request));
  BOOST_TEST(reply.still_owner);
  BOOST_TEST(reply.rows.size() == 6U);
  BOOST_TEST(reply.route.route.value() == route.value());
  BOOST_TEST(states(campaign) == "queued=4 attempting=6");
  request = ask_for({rows.begin() + 6, rows.end()}, 2);
  request.gate = database_instant{nanoseconds{400}};
  must(claim_group(*db, request));
  BOOST_TEST(ask("SELECT last_slot_ns FROM shards ORDER BY index LIMIT 1") == "500");
  BOOST_TEST(ask("SELECT group_no FROM shards ORDER BY index LIMIT 1") == "2");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_claim_reads_the_brake_and_the_grid_of_its_route) {
  ask("UPDATE routes SET brake_until = clock_timestamp() + interval '10 s', grid_number = 3,"
      " target_mhz = 22000, next_start_ns = 4000000000000000000, next_target_mhz = 11000,"
      " max_24h = 200");
  const auto reply = must(claim_group(*db, ask_for(due(make_campaign(1)), 1)));
  BOOST_TEST(reply.route.brake_left.count() > 0);
  BOOST_TEST(reply.route.current.number == 3);
  BOOST_TEST(reply.route.current.target.millihertz() == 22000);
  BOOST_TEST(reply.route.next.value().number == 4);
  BOOST_TEST(reply.route.daily_limited);
}

BOOST_AUTO_TEST_CASE(workers_that_claim_the_same_rows_at_once_get_distinct_ones) {
  const auto campaign = make_campaign(100);
  const auto rows = due(campaign);
  std::vector<std::unique_ptr<session>> connections;
  std::vector<std::future<claim_reply>> running;
  std::promise<void> start;
  const auto started = start.get_future().share();
  for (int worker = 0; worker < 4; ++worker) {
    connections.push_back(connect());
    running.push_back(std::async(std::launch::async, [started, on = connections.back().get(),
                                                      request = ask_for(rows, 1, worker)] {
      started.wait();
      return must(claim_group(*on, request));
    }));
  }
  start.set_value();
  std::multiset<message_id> claimed;
  for (auto& one : running)
    for (const auto& row : one.get().rows)
      claimed.insert(row.of.message);
  BOOST_TEST(claimed.size() == 100U);
  BOOST_TEST(std::set<message_id>(claimed.begin(), claimed.end()).size() == 100U);
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_claim_that_waited_for_a_takeover_gets_nothing) {
  const auto campaign = make_campaign(3);
  const auto request = ask_for(due(campaign), 1);
  pqxx::connection other{dsn};
  pqxx::work takeover{other};
  takeover.exec("UPDATE shards SET epoch = nextval('epochs') WHERE index = 0");
  auto claim = start_blocked(*db, [this, request] { return must(claim_group(*db, request)); });
  takeover.commit();
  const auto reply = claim.get();
  BOOST_TEST(!reply.still_owner);
  BOOST_TEST(reply.rows.empty());
  BOOST_TEST(states(campaign) == "queued=3");
}

BOOST_AUTO_TEST_CASE(a_released_shard_claims_nothing_under_its_old_epoch) {
  const auto campaign = make_campaign(3);
  ask("UPDATE shards SET owner = NULL");
  BOOST_TEST(!must(claim_group(*db, ask_for(due(campaign), 1))).still_owner);
  BOOST_TEST(states(campaign) == "queued=3");
}

BOOST_AUTO_TEST_CASE(a_claim_that_waited_for_a_pause_or_a_cancel_gets_nothing) {
  for (const std::string state : {"paused", "canceled"}) {
    const auto campaign = make_campaign(3);
    const auto request = ask_for(due(campaign), 1);
    pqxx::connection other{dsn};
    pqxx::work stop{other};
    stop.exec("UPDATE streams SET state = '" + state
              + "' WHERE id = " + std::to_string(campaign.value()));
    auto claim = start_blocked(*db, [this, request] { return must(claim_group(*db, request)); });
    stop.commit();
    const auto reply = claim.get();
    BOOST_TEST(reply.still_owner);
    BOOST_TEST(reply.rows.empty());
    BOOST_TEST(states(campaign) == "queued=3");
  }
}

BOOST_AUTO_TEST_CASE(pause_and_cancel_return_only_after_a_claim_that_was_first) {
  for (const auto stop : {&pause_campaign, &cancel_campaign}) {
    const auto campaign = make_campaign(3);
    const auto request = ask_for(due(campaign, 2), 1);
    const auto other = connect();
    std::future<result<done>> stopping;
    const auto reply = must(db->in_transaction([&](session& open) {
      auto claimed = claim_group(open, request);
      stopping = start_blocked(
          *other, [&other, stop, campaign] { return stop(*other, campaign, "cli:test"); });
      return claimed;
    }));
    BOOST_TEST(reply.rows.size() == 2U);
    must(stopping.get());
    BOOST_TEST(must(claim_group(*db, ask_for(due(campaign), 2))).rows.empty());
    BOOST_TEST(states(campaign) == "queued=1 attempting=2");
    ask("UPDATE shards SET group_no = 0");
  }
}

BOOST_AUTO_TEST_CASE(the_repeat_of_a_claim_in_doubt_returns_the_same_rows) {
  const auto campaign = make_campaign(6);
  const auto request = ask_for(due(campaign), 1);
  const auto first = must(claim_group(*db, request));
  const auto again = must(claim_group(*db, request));
  BOOST_TEST(first.rows.size() == 6U);
  BOOST_TEST(again.rows.size() == 6U);
  for (const auto& row : again.rows)
    BOOST_TEST(row.may_start);
  must(pause_campaign(*db, campaign, "cli:test"));
  const auto paused = must(claim_group(*db, request));
  BOOST_TEST(paused.rows.size() == 6U);
  for (const auto& row : paused.rows)
    BOOST_TEST(!row.may_start);
}

BOOST_AUTO_TEST_CASE(a_stray_older_group_or_epoch_gets_nothing) {
  const auto campaign = make_campaign(6);
  const auto rows = due(campaign);
  must(claim_group(*db, ask_for({rows.begin(), rows.begin() + 2}, 5)));
  BOOST_TEST(must(claim_group(*db, ask_for({rows.begin() + 2, rows.end()}, 4))).rows.empty());
  auto stray = ask_for({rows.begin() + 2, rows.end()}, 6);
  stray.epoch = epochs.at(1);
  BOOST_TEST(must(claim_group(*db, stray)).rows.empty());
  // A later group does not get an earlier group's rows either.
  BOOST_TEST(must(claim_group(*db, ask_for({rows.begin(), rows.begin() + 2}, 6))).rows.empty());
  BOOST_TEST(states(campaign) == "queued=4 attempting=2");
}

BOOST_AUTO_TEST_CASE(suppressed_recipients_are_left_out_and_none_left_means_suppressed) {
  new_message message;
  message.route = route;
  message.what.sender = "a@example.org";
  message.recipients = {"x@example.org", "y@example.org"};
  const auto both = must(accept_message(*db, ids, message));
  message.recipients = {"x@example.org"};
  must(accept_message(*db, ids, message));
  must(add_suppressions(*db, project_id{1}, "test", {" X@Example.ORG"}, "operator", "cli:me"));
  must(add_suppressions(*db, project_id{1}, "live", {"y@example.org"}, "operator", "cli:me"));
  const auto direct = must(show_message(*db, both)).stream;
  const auto rows = due(direct);
  BOOST_TEST(rows.size() == 2U);
  const auto reply = must(claim_group(*db, ask_for(rows, 1)));
  BOOST_TEST(reply.rows.size() == 1U);
  BOOST_TEST(reply.rows.front().of.message.value() == both.value());
  BOOST_TEST(reply.rows.front().suppressed == std::vector<std::string>{"x@example.org"},
             boost::test_tools::per_element());
  BOOST_TEST(must(settle_skipped(*db, attempts_of(rows), 3)) == 1);
  BOOST_TEST(states(direct) == "attempting=1 suppressed=1");
  BOOST_TEST(counters_match());
  // Suppressed wholly since: a repeat must not start it.
  must(add_suppressions(*db, project_id{1}, "test", {"y@example.org"}, "operator", "cli:me"));
  BOOST_TEST(!must(claim_group(*db, ask_for(rows, 1))).rows.front().may_start);
}

BOOST_AUTO_TEST_CASE(what_has_expired_is_not_claimed_and_settles_as_expired) {
  const auto campaign = make_campaign(2);
  const auto rows = due(campaign);
  ask("UPDATE message_states SET expires_at = clock_timestamp() WHERE id = "
      + std::to_string(rows.at(0).of.message.value()));
  BOOST_TEST(must(claim_group(*db, ask_for(rows, 1))).rows.size() == 1U);
  BOOST_TEST(must(settle_skipped(*db, attempts_of(rows), 3)) == 1);
  BOOST_TEST(states(campaign) == "attempting=1 expired=1");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(settling_leaves_alone_what_could_still_go) {
  const auto campaign = make_campaign(2);
  const auto rows = due(campaign);
  must(pause_campaign(*db, campaign, "cli:test"));
  BOOST_TEST(must(settle_skipped(*db, attempts_of(rows), 3)) == 0);
  must(cancel_campaign(*db, campaign, "cli:test"));
  BOOST_TEST(must(settle_skipped(*db, attempts_of(rows), 3)) == 2);
  BOOST_TEST(states(campaign) == "canceled=2");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(pages_of_due_rows_follow_their_cursor_and_keep_to_their_part) {
  const auto campaign = make_campaign(100);
  std::set<message_id> seen;
  for (const auto part : {reserve_part::own, reserve_part::other}) {
    reserve_request request{{{campaign, part, {}, 20}}, 1, 3, 4};
    while (true) {
      const auto page = must(reserve_due(*db, request)).at(0);
      for (const auto& row : page.rows) {
        BOOST_TEST(seen.insert(row.of.message).second);
        request.sources[0].after = {row.due_at, row.of.message};
      }
      if (page.exhausted)
        break;
    }
    BOOST_TEST(seen.size() == (part == reserve_part::own ? 25U : 50U));
  }
}

BOOST_AUTO_TEST_CASE(what_preflight_refused_or_postponed_is_not_due) {
  const auto campaign = make_campaign(3);
  const auto rows = due(campaign);
  const std::vector<preflight_failure> failures{
      {rows[0].of, message_status::rendering_failed, reason_code::rendering_error, "no \0name"}};
  BOOST_TEST(must(reject_unsent(*db, failures, 2)) == 1);
  BOOST_TEST(must(reject_unsent(*db, failures, 2)) == 0);
  BOOST_TEST(must(postpone(*db, {rows[1].of}, std::chrono::seconds{15})) == 1);
  BOOST_TEST(due(campaign).size() == 1U);
  BOOST_TEST(states(campaign) == "queued=2 rendering_failed=1");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_SUITE_END()
