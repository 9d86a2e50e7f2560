#include "storage/bulk_resolve.hpp"

#include <boost/test/unit_test.hpp>

#include "test/pg/dispatch_fixture.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

using std::chrono::hours;

class bulk_fixture : public dispatch_fixture {
public:
  /// A campaign of which everybody is unknown since 25 hours.
  stream_id make_unknown(int size) {
    const auto campaign = make_campaign(size);
    for (int claimed = 0; claimed < size; claimed += 100) {
      std::vector<outcome> outcomes;
      for (const auto& of : claim_due(campaign, ++group_, 100))
        outcomes.push_back(make_outcome(of, outcome_kind::unknown));
      must(record_outcomes(*db, outcomes, {}, 1));
    }
    ask("UPDATE message_states SET changed_at = changed_at - interval '25 hours' WHERE stream = "
        + number(campaign));
    return campaign;
  }
  static std::string number(stream_id id) { return std::to_string(id.value()); }

  static resolve_run run_of(stream_id campaign, resolution how) {
    resolve_run run;
    run.what = {campaign, hours{24}};
    run.how = how;
    run.actor = "cli:anna@host";
    return run;
  }
  /// All pages on `on`; how many messages changed.
  std::int64_t resolve(session& on, id_source& with, resolve_run& run) {
    for (std::optional<message_id> after = message_id{}; after;)
      after = must(resolve_unknown_page(on, with, run, *after, 0)).next;
    return run.changed;
  }
  std::int64_t resolve(stream_id campaign, resolution how) {
    auto run = run_of(campaign, how);
    return resolve(*db, ids, run);
  }
  std::int64_t count(stream_id campaign, nanoseconds older_than = hours{24}) {
    std::int64_t found = 0;
    for (std::optional<message_id> after = message_id{}; after;) {
      const auto page = must(count_unknown_page(*db, {campaign, older_than}, *after));
      found += page.messages;
      after = page.next;
    }
    return found;
  }
  std::string resent() { return ask("SELECT count(*) FROM messages WHERE resend_of IS NOT NULL"); }
  std::string doubly_resent() {
    return ask("SELECT count(*) FROM (SELECT resend_of FROM messages WHERE resend_of IS NOT NULL"
               " GROUP BY resend_of HAVING count(*) > 1) twice");
  }

  id_source other_ids{8};

private:
  int group_ = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(bulk_resolve, bulk_fixture)

BOOST_AUTO_TEST_CASE(counting_changes_nothing_and_finds_what_is_old_enough) {
  const auto campaign = make_unknown(5);
  BOOST_TEST(count(campaign) == 5);
  BOOST_TEST(count(campaign, hours{26}) == 0);
  BOOST_TEST(states(campaign) == "acceptance_unknown=5");
  BOOST_TEST(count(make_campaign(3)) == 0);
}

BOOST_AUTO_TEST_CASE(
    unknown_messages_become_what_the_operator_says_and_only_those_of_the_campaign) {
  const auto first = make_unknown(5), second = make_unknown(4), third = make_unknown(3);
  BOOST_TEST(resolve(first, resolution::accepted) == 5);
  BOOST_TEST(resolve(second, resolution::rejected) == 4);
  BOOST_TEST(states(first) == "accepted=5");
  BOOST_TEST(states(second) == "rejected=4");
  BOOST_TEST(states(third) == "acceptance_unknown=3");
  BOOST_TEST(ask("SELECT DISTINCT reason FROM message_states WHERE stream = " + number(first))
             == "18");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(what_is_too_young_or_known_stays) {
  const auto campaign = make_unknown(4);
  ask("UPDATE message_states SET changed_at = clock_timestamp() WHERE id ="
      " (SELECT min(id) FROM message_states)");
  ask("UPDATE message_states SET status = 3 WHERE id = (SELECT max(id) FROM message_states)");
  BOOST_TEST(resolve(campaign, resolution::rejected) == 2);
  BOOST_TEST(states(campaign) == "acceptance_unknown=1 accepted=1 rejected=2");
}

BOOST_AUTO_TEST_CASE(sent_again_means_closed_and_new_direct_mail_with_the_same_content) {
  const auto campaign = make_unknown(3);
  BOOST_TEST(resolve(campaign, resolution::send_again) == 3);
  BOOST_TEST(states(campaign) == "rejected=3");
  BOOST_TEST(resent() == "3");
  BOOST_TEST(ask("SELECT count(*) FROM messages n JOIN messages o ON o.id = n.resend_of"
                 " JOIN message_states t ON t.id = n.id JOIN streams s ON s.id = n.stream"
                 " WHERE n.recipients = o.recipients AND n.content = o.content"
                 " AND n.fields::text = o.fields::text AND t.status = 0 AND t.route = s.route"
                 " AND s.kind = 'direct' AND s.priority = 10")
             == "3");
  BOOST_TEST(counters_match());
  BOOST_TEST(resolve(campaign, resolution::send_again) == 0);
  BOOST_TEST(resent() == "3");
}

BOOST_AUTO_TEST_CASE(more_than_a_page_is_done_in_pages_and_audited_once) {
  const auto campaign = make_unknown(1100);
  auto run = run_of(campaign, resolution::accepted);
  const auto first = must(resolve_unknown_page(*db, ids, run, {}, 0));
  BOOST_TEST(first.messages == 1000);
  BOOST_TEST(states(campaign) == "acceptance_unknown=100 accepted=1000");
  const auto detail = [this] {
    return ask("SELECT detail->>'messages' FROM audit_log WHERE action = 'messages.resolve'");
  };
  BOOST_TEST(detail() == "1000"); // as far as a run that is killed here has come
  const auto second = must(resolve_unknown_page(*db, ids, run, first.next.value(), 0));
  BOOST_TEST(second.messages == 100);
  BOOST_TEST(run.changed == 1100);
  BOOST_TEST(detail() == "1100");
  BOOST_TEST(ask("SELECT count(*) FROM audit_log WHERE subject = '" + number(campaign) + "'")
             == "1");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(of_two_operators_at_once_only_one_sends_a_message_again) {
  const auto campaign = make_unknown(200);
  const auto work = [&](session& on, id_source& with) {
    auto run = run_of(campaign, resolution::send_again);
    return resolve(on, with, run);
  };
  auto second = connect(), third = connect();
  // Somebody holds the rows and does nothing with them: both operators have looked and wait.
  pqxx::connection holder{dsn};
  pqxx::work holding{holder};
  holding.exec("SELECT id FROM message_states ORDER BY id FOR UPDATE");
  auto one = start_blocked(*second, [&] { return work(*second, ids); });
  auto two = start_blocked(*third, [&] { return work(*third, other_ids); });
  holding.abort();
  BOOST_TEST(one.get() + two.get() == 200);
  BOOST_TEST(resent() == "200");
  BOOST_TEST(doubly_resent() == "0");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_page_that_fails_half_way_changes_nothing) {
  const auto campaign = make_unknown(3);
  // What is written last is refused: the whole page must go back.
  ask("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
      " $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '23514'; END$$");
  ask("CREATE TRIGGER refuse BEFORE INSERT ON audit_log EXECUTE FUNCTION refuse()");
  auto run = run_of(campaign, resolution::send_again);
  const auto failed = resolve_unknown_page(*db, ids, run, {}, 0);
  BOOST_REQUIRE(!failed);
  BOOST_TEST((failed.failure().kind == error_kind::data));
  BOOST_TEST(states(campaign) == "acceptance_unknown=3");
  BOOST_TEST(resent() == "0");
  BOOST_TEST(run.changed == 0);
  ask("DROP TRIGGER refuse ON audit_log");
  BOOST_TEST(resolve(*db, ids, run) == 3);
}

BOOST_AUTO_TEST_CASE(without_an_age_nothing_is_resolved) {
  const auto campaign = make_unknown(1);
  auto run = run_of(campaign, resolution::accepted);
  run.what.older_than = nanoseconds{0};
  BOOST_TEST((resolve_unknown_page(*db, ids, run, {}, 0).failure().kind == error_kind::invalid));
}

BOOST_AUTO_TEST_SUITE_END()
