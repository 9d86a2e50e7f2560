/// Campaigns from the frozen audience to the end.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace paceline;
using namespace paceline::test;

BOOST_FIXTURE_TEST_SUITE(campaigns, dispatch_fixture)

BOOST_AUTO_TEST_CASE(an_audience_is_there_as_a_whole_or_not_at_all) {
  new_campaign campaign;
  campaign.name = "spring";
  campaign.route = route;
  campaign.what.sender = "a@example.org";
  int made = 0;
  const auto broken = [&made]() -> result<std::optional<audience_member>> {
    if (++made == 3)
      return error{error_kind::invalid, "line 4: no address"};
    return std::optional{audience_member{"a@example.org", "{}"}};
  };
  const auto failed = start_campaign(*connect(), ids, campaign, broken);
  BOOST_TEST((failed.failure().kind == error_kind::invalid));
  const auto empty =
      start_campaign(*db, ids, campaign, [] { return std::optional<audience_member>{}; });
  BOOST_TEST((empty.failure().kind == error_kind::invalid));
  for (const std::string table : {"messages", "campaigns", "streams", "contents"})
    BOOST_TEST(ask("SELECT count(*) FROM " + table) == "0");
  BOOST_TEST(must(show_campaign(*db, make_campaign(3))).audience == 3);
}

BOOST_AUTO_TEST_CASE(expansion_killed_after_every_page_gives_each_recipient_one_row) {
  const auto campaign = make_campaign(5001, false);
  BOOST_TEST(must(show_campaign(*db, campaign)).expanded == 0);
  int pages = 0;
  for (bool done = false; !done; ++pages) {
    const auto fresh = connect();
    done = must(expand_page(*fresh, campaign, 1000, 0)).done;
    // Killed before its commit: nothing of that page stays.
    const auto killed = fresh->in_transaction([&](session& open) -> result<expand_reply> {
      must(expand_page(open, campaign, 1000, 0));
      return error{error_kind::unavailable, "killed"};
    });
    BOOST_TEST(!killed);
    BOOST_TEST(counters_match());
  }
  BOOST_TEST(pages == 6);
  BOOST_TEST(states(campaign) == "queued=5001");
  BOOST_TEST(must(expand_page(*db, campaign, 1000, 0)).inserted == 0);
  BOOST_TEST(ask("SELECT max(n) - min(n) FROM (SELECT count(*) AS n FROM message_states"
                 " GROUP BY bucket) b")
             == "1");
}

BOOST_AUTO_TEST_CASE(an_audience_of_whole_pages_is_done_with_its_last_one) {
  const auto campaign = make_campaign(5000, false);
  for (int page = 1; page <= 5; ++page) {
    const auto reply = must(expand_page(*db, campaign, 1000, 0));
    BOOST_TEST(reply.inserted == 1000);
    BOOST_TEST(reply.done == (page == 5));
  }
}

BOOST_AUTO_TEST_CASE(two_expanders_share_a_campaign_without_a_message_twice) {
  const auto campaign = make_campaign(3000, false);
  std::vector<std::future<void>> workers;
  for (int i = 0; i < 2; ++i)
    workers.push_back(std::async(std::launch::async, [this, campaign, i] {
      const auto on = connect();
      while (!must(expand_page(*on, campaign, 100, i)).done)
        continue;
    }));
  for (auto& worker : workers)
    worker.get();
  BOOST_TEST(states(campaign) == "queued=3000");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_pause_stops_expansion_and_a_resume_continues_it) {
  const auto campaign = make_campaign(30, false);
  must(expand_page(*db, campaign, 10, 0));
  must(pause_campaign(*db, campaign, "cli:test"));
  const auto paused = must(expand_page(*db, campaign, 10, 0));
  BOOST_TEST(paused.inserted == 0);
  BOOST_TEST(!paused.done);
  must(resume_campaign(*db, campaign, "cli:test"));
  BOOST_TEST(must(expand_page(*db, campaign, 100, 0)).inserted == 20);
}

BOOST_AUTO_TEST_CASE(expansion_that_waited_for_a_cancel_adds_nothing) {
  const auto campaign = make_campaign(30, false);
  const auto other = connect();
  std::future<expand_reply> expanding;
  pqxx::connection canceler{dsn};
  pqxx::work cancel{canceler};
  cancel.exec("UPDATE streams SET state = 'canceled'");
  expanding = start_blocked(*other, [&] { return must(expand_page(*other, campaign, 10, 0)); });
  cancel.commit();
  BOOST_TEST(expanding.get().inserted == 0);
}

BOOST_AUTO_TEST_CASE(a_canceled_campaign_cancels_what_is_queued_page_by_page) {
  const auto campaign = make_campaign(25);
  const auto claimed = claim_due(campaign, 1, 2);
  BOOST_TEST(must(cancel_page(*db, campaign, 10, 0)) == 0); // it is not canceled
  must(cancel_campaign(*db, campaign, "cli:test"));
  BOOST_TEST(must(open_campaigns(*db, {route})).at(0).canceled);
  BOOST_TEST(must(cancel_page(*db, campaign, 10, 0)) == 10);
  BOOST_TEST(must(cancel_page(*db, campaign, 100, 0)) == 13);
  BOOST_TEST(states(campaign) == "attempting=2 canceled=23");
  must(record_outcomes(*db,
                       {make_outcome(claimed[0], outcome_kind::accepted),
                        make_outcome(claimed[1], outcome_kind::not_started)},
                       {}, 1));
  BOOST_TEST(must(open_campaigns(*db, {route})).at(0).open == 1);
  BOOST_TEST(must(cancel_page(*db, campaign, 100, 0)) == 1);
  BOOST_TEST(must(open_campaigns(*db, {route})).empty());
  BOOST_TEST(must(show_campaign(*db, campaign)).finished_at != "");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(cancel_pages_pass_over_rows_that_a_claim_holds) {
  const auto campaign = make_campaign(3);
  pqxx::connection holder{dsn};
  pqxx::work held{holder};
  held.exec(
      "SELECT FROM message_states WHERE id = (SELECT min(id) FROM message_states) FOR UPDATE");
  must(cancel_campaign(*db, campaign, "cli:test"));
  BOOST_TEST(must(cancel_page(*db, campaign, 100, 0)) == 2);
  held.abort();
  BOOST_TEST(must(cancel_page(*db, campaign, 100, 0)) == 1);
}

BOOST_AUTO_TEST_CASE(a_campaign_finishes_only_when_expanded_and_nothing_is_open) {
  const auto campaign = make_campaign(2, false);
  BOOST_TEST(!must(finish_campaign(*db, campaign))); // nothing open, but nothing expanded either
  must(expand_page(*db, campaign, 1, 0));
  must(record_outcomes(*db, {make_outcome(claim_due(campaign, 1).at(0), outcome_kind::unknown)}, {},
                       1));
  BOOST_TEST(!must(finish_campaign(*db, campaign))); // the audience's second half is missing
  must(expand_page(*db, campaign, 1, 0));
  BOOST_TEST(!must(finish_campaign(*db, campaign)));
  must(record_outcomes(*db, {make_outcome(claim_due(campaign, 2).at(0), outcome_kind::accepted)},
                       {}, 1));
  BOOST_TEST(must(open_campaigns(*db, {route})).at(0).open == 0);
  BOOST_TEST(must(finish_campaign(*db, campaign)));
  BOOST_TEST(must(open_campaigns(*db, {route})).empty());
  const auto view = must(show_campaign(*db, campaign));
  BOOST_TEST(view.accepted == 1);
  BOOST_TEST(view.unknown == 1);
  BOOST_TEST(view.finished_s.has_value());
}

BOOST_AUTO_TEST_CASE(states_that_forbid_a_change_are_named) {
  const auto campaign = make_campaign(1);
  must(pause_campaign(*db, campaign, "cli:test"));
  must(pause_campaign(*db, campaign, "cli:test")); // repeatable
  must(resume_campaign(*db, campaign, "cli:test"));
  must(cancel_campaign(*db, campaign, "cli:test"));
  const auto refused = resume_campaign(*db, campaign, "cli:test");
  BOOST_TEST((refused.failure().kind == error_kind::refused));
  BOOST_TEST(refused.failure().text.find("canceled") != std::string::npos);
  BOOST_TEST(
      (pause_campaign(*db, stream_id{1}, "cli:test").failure().kind == error_kind::not_found));
  BOOST_TEST((show_campaign(*db, stream_id{1}).failure().kind == error_kind::not_found));
}

BOOST_AUTO_TEST_CASE(campaigns_are_listed_newest_first) {
  const auto first = make_campaign(1), second = make_campaign(2);
  const auto all = must(list_campaigns(*db, {}));
  BOOST_TEST(all.size() == 2U);
  BOOST_TEST(all.at(0).id.value() == second.value());
  BOOST_TEST(all.at(1).id.value() == first.value());
  BOOST_TEST(all.at(0).route == "test:local");
  campaign_filter page;
  page.limit = 1;
  BOOST_TEST(must(list_campaigns(*db, page)).size() == 1U);
  page.before = second;
  BOOST_TEST(must(list_campaigns(*db, page)).at(0).id.value() == first.value());
  page = {};
  page.environment = "live";
  BOOST_TEST(must(list_campaigns(*db, page)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
