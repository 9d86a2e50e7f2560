/// Who has unsubscribed gets no campaigns, but direct mail; whatever else suppresses stops all.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/messages.hpp"
#include "storage/suppressions.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr project_id project{1};

struct unsubscribes_fixture : dispatch_fixture {
  bool unsubscribe(const std::string& address, stream_id from, const std::string& where = "test") {
    return must(record_unsubscribe(*db, project, where, from, address));
  }
  void suppress(const std::string& address, const std::string& reason) {
    must(add_suppressions(*db, project, "test", {address}, reason, "cli:test"));
  }
  std::string reason_of(const std::string& address) {
    return must(find_suppression(*db, project, "test", address)).reason;
  }
  message_id direct_mail(std::vector<std::string> to) {
    new_message message;
    message.route = route;
    message.what.sender = "a@example.org";
    message.recipients = std::move(to);
    return must(accept_message(*db, ids, message));
  }
  /// How many of the stream's due messages a claim gets.
  std::size_t claimed(stream_id stream) {
    const auto rows = due(stream);
    const auto reply = must(claim_group(*db, ask_for(rows, ++group_)));
    must(settle_skipped(*db, attempts_of(rows), 3));
    return reply.rows.size();
  }

private:
  int group_ = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(unsubscribes, unsubscribes_fixture)

BOOST_AUTO_TEST_CASE(an_unsubscribe_counts_once_however_often_it_comes) {
  const auto campaign = make_campaign(1, false);
  BOOST_TEST(unsubscribe("r1@example.org", campaign));
  BOOST_TEST(!unsubscribe("R1@Example.org ", campaign));
  BOOST_TEST(ask("SELECT count(*) FROM unsubscribes") == "1");
  BOOST_TEST(ask("SELECT count(*) FROM suppressions") == "1");
  BOOST_TEST(reason_of("r1@example.org") == "unsubscribe");
  BOOST_TEST(unsubscribe("r1@example.org", campaign, "live"));
}

BOOST_AUTO_TEST_CASE(an_unsubscribe_stops_campaigns_and_lets_direct_mail_through) {
  const auto campaign = make_campaign(2);
  const auto direct = must(show_message(*db, direct_mail({"r1@example.org"}))).stream;
  unsubscribe("r1@example.org", campaign);
  BOOST_TEST(claimed(campaign) == 1U);
  BOOST_TEST(claimed(direct) == 1U);
  BOOST_TEST(states(campaign) == "attempting=1 suppressed=1");
  BOOST_TEST(states(direct) == "attempting=1");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(one_claim_of_both_kinds_tells_them_apart) {
  const auto campaign = make_campaign(1);
  const auto mail = direct_mail({"r1@example.org", "other@example.org"});
  const auto direct = must(show_message(*db, mail)).stream;
  unsubscribe("r1@example.org", campaign);
  auto rows = due(campaign);
  for (auto& row : due(direct))
    rows.push_back(row);
  const auto reply = must(claim_group(*db, ask_for(rows, 1)));
  BOOST_REQUIRE(reply.rows.size() == 1U);
  BOOST_TEST(reply.rows[0].of.message.value() == mail.value());
  BOOST_TEST(reply.rows[0].suppressed.empty());
}

BOOST_AUTO_TEST_CASE(another_reason_takes_the_place_of_an_unsubscribe_and_stops_all) {
  const auto campaign = make_campaign(1);
  const auto direct = must(show_message(*db, direct_mail({"r1@example.org"}))).stream;
  unsubscribe("r1@example.org", campaign);
  BOOST_TEST(must(add_suppressions(*db, project, "test", {"r1@example.org", "r1@example.org"},
                                   "bounce", "cli:test"))
             == 1);
  BOOST_TEST(reason_of("r1@example.org") == "bounce");
  BOOST_TEST(claimed(direct) == 0U);
  BOOST_TEST(states(direct) == "suppressed=1");
}

BOOST_AUTO_TEST_CASE(an_unsubscribe_never_takes_the_place_of_another_reason) {
  const auto campaign = make_campaign(1);
  suppress("r1@example.org", "complaint");
  BOOST_TEST(unsubscribe("r1@example.org", campaign));
  suppress("r1@example.org", "unsubscribe");
  suppress("r1@example.org", "operator");
  BOOST_TEST(reason_of("r1@example.org") == "complaint");
  BOOST_TEST(ask("SELECT count(*) FROM unsubscribes") == "1");
}

BOOST_AUTO_TEST_CASE(whoever_was_let_in_again_can_leave_again) {
  const auto campaign = make_campaign(1);
  unsubscribe("r1@example.org", campaign);
  must(remove_suppressions(*db, project, "test", {"r1@example.org"}, "cli:test"));
  BOOST_TEST(!unsubscribe("r1@example.org", campaign));
  BOOST_TEST(reason_of("r1@example.org") == "unsubscribe");
}

BOOST_AUTO_TEST_CASE(an_unknown_project_is_no_fault_of_the_database) {
  BOOST_TEST(
      (record_unsubscribe(*db, project_id{99}, "test", stream_id{1}, "a@x.org").failure().kind
       == error_kind::data));
}

BOOST_AUTO_TEST_SUITE_END()
