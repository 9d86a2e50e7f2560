/// Outcomes, repeats, late owners and the sweep.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/clean_text.hpp"
#include "storage/messages.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

struct records_fixture : dispatch_fixture {
  record_reply record(const std::vector<outcome>& outcomes, std::int32_t writer = 1) {
    return must(record_outcomes(*db, outcomes, {}, writer));
  }
  record_reply record_all(const std::vector<attempt>& attempts, outcome_kind kind) {
    std::vector<outcome> outcomes;
    for (const auto& of : attempts)
      outcomes.push_back(make_outcome(of, kind));
    return record(outcomes);
  }
  message_view show(const attempt& of) { return must(show_message(*db, of.message)); }
  /// Seconds from the last change to the due time.
  std::string wait_of(const attempt& of) {
    return ask("SELECT round(extract(epoch FROM due_at - changed_at)) FROM message_states "
               "WHERE id = "
               + std::to_string(of.message.value()));
  }
  void make_due() {
    ask("UPDATE message_states SET due_at = now() - interval '1 h' WHERE status = 0");
  }
  /// The node of shard 0 dies; somebody else takes over.
  void lose_epoch() {
    ask("INSERT INTO lost_epochs (epoch, shard) SELECT epoch, id FROM shards WHERE index = 0");
    epochs.at(0) = epoch_id{std::stoll(ask("UPDATE shards SET epoch = nextval('epochs'), "
                                           "group_no = 0 WHERE index = 0 RETURNING epoch"))};
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(records, records_fixture)

BOOST_AUTO_TEST_CASE(every_kind_of_outcome_ends_where_the_contract_says) {
  const auto campaign = make_campaign(5);
  const auto claimed = claim_due(campaign, 1);
  auto rejected = make_outcome(claimed.at(1), outcome_kind::rejected);
  rejected.reason = reason_code::provider_rejected;
  rejected.diagnostic = "no such user";
  const auto reply = record({make_outcome(claimed.at(0), outcome_kind::accepted), rejected,
                             make_outcome(claimed.at(2), outcome_kind::unknown),
                             make_outcome(claimed.at(3), outcome_kind::throttled),
                             make_outcome(claimed.at(4), outcome_kind::not_started)});
  BOOST_TEST(reply.changed == 5);
  BOOST_TEST(reply.streams.at(0).open_left == 2);
  BOOST_TEST(states(campaign) == "queued=2 acceptance_unknown=1 accepted=1 rejected=1");
  BOOST_TEST(show(claimed[0]).provider_id == std::to_string(claimed[0].message.value()));
  BOOST_TEST(show(claimed[1]).diagnostic == "no such user");
  BOOST_TEST((show(claimed[1]).reason == reason_code::provider_rejected));
  BOOST_TEST(show(claimed[3]).version == 1);
  BOOST_TEST(show(claimed[3]).throttles == 1);
  BOOST_TEST(show(claimed[4]).version == 1);
  BOOST_TEST(show(claimed[4]).throttles == 0);
  BOOST_TEST(show(claimed[4]).started_at == "");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_record_stored_twice_changes_nothing_the_second_time) {
  const auto campaign = make_campaign(4);
  const auto claimed = claim_due(campaign, 1);
  const std::vector<outcome> outcomes{make_outcome(claimed[0], outcome_kind::accepted),
                                      make_outcome(claimed[1], outcome_kind::throttled),
                                      make_outcome(claimed[2], outcome_kind::unknown),
                                      make_outcome(claimed[2], outcome_kind::unknown),
                                      make_outcome(claimed[3], outcome_kind::not_started)};
  BOOST_TEST(record(outcomes).changed == 4);
  const auto before = states(campaign);
  const auto counted = ask("SELECT string_agg(c::text, ' ' ORDER BY writer) FROM counters c");
  const auto again = record(outcomes);
  BOOST_TEST(again.changed == 0);
  BOOST_TEST(again.streams.empty());
  BOOST_TEST(states(campaign) == before);
  BOOST_TEST(ask("SELECT string_agg(c::text, ' ' ORDER BY writer) FROM counters c") == counted);
  BOOST_TEST(ask("SELECT sum(starts) FROM dispatch_curve") == "3");
}

BOOST_AUTO_TEST_CASE(the_truth_that_comes_late_resolves_an_unknown) {
  const auto campaign = make_campaign(4);
  const auto claimed = claim_due(campaign, 1);
  record_all(claimed, outcome_kind::unknown);
  BOOST_TEST(states(campaign) == "acceptance_unknown=4");
  record({make_outcome(claimed[0], outcome_kind::accepted),
          make_outcome(claimed[1], outcome_kind::rejected),
          make_outcome(claimed[2], outcome_kind::throttled),
          make_outcome(claimed[3], outcome_kind::not_started)});
  BOOST_TEST(states(campaign) == "queued=2 accepted=1 rejected=1");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(in_one_batch_what_is_known_beats_unknown) {
  const auto campaign = make_campaign(2);
  const auto claimed = claim_due(campaign, 1);
  record({make_outcome(claimed[0], outcome_kind::unknown),
          make_outcome(claimed[0], outcome_kind::accepted),
          make_outcome(claimed[1], outcome_kind::accepted),
          make_outcome(claimed[1], outcome_kind::unknown)});
  BOOST_TEST(states(campaign) == "accepted=2");
}

BOOST_AUTO_TEST_CASE(an_outcome_of_another_version_changes_nothing) {
  const auto campaign = make_campaign(1);
  const auto first = claim_due(campaign, 1).at(0);
  record({make_outcome(first, outcome_kind::not_started)});
  const auto second = claim_due(campaign, 2).at(0);
  BOOST_TEST(second.version == first.version + 1);
  BOOST_TEST(record({make_outcome(first, outcome_kind::accepted)}).changed == 0);
  BOOST_TEST(states(campaign) == "attempting=1");
}

BOOST_AUTO_TEST_CASE(a_late_refusal_does_not_reopen_a_finished_campaign) {
  const auto campaign = make_campaign(1);
  const auto claimed = claim_due(campaign, 1);
  record_all(claimed, outcome_kind::unknown);
  BOOST_TEST(must(finish_campaign(*db, campaign)));
  BOOST_TEST(record_all(claimed, outcome_kind::throttled).changed == 0);
  BOOST_TEST(states(campaign) == "acceptance_unknown=1");
  BOOST_TEST(record_all(claimed, outcome_kind::accepted).changed == 1);
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(throttles_wait_2_4_8_16_32_and_then_32_seconds) {
  const auto campaign = make_campaign(1);
  int group = 0;
  for (const std::string expected : {"2", "4", "8", "16", "32", "32"}) {
    const auto claimed = claim_due(campaign, ++group);
    record_all(claimed, outcome_kind::throttled);
    BOOST_TEST(wait_of(claimed.at(0)) == expected);
    BOOST_TEST(due(campaign).empty());
    make_due();
  }
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(the_longer_of_backoff_and_retry_after_wins) {
  const auto campaign = make_campaign(2);
  const auto claimed = claim_due(campaign, 1);
  auto longer = make_outcome(claimed[0], outcome_kind::throttled);
  longer.retry_after = std::chrono::seconds{90};
  auto shorter = make_outcome(claimed[1], outcome_kind::throttled);
  shorter.retry_after = std::chrono::seconds{1};
  record({longer, shorter});
  BOOST_TEST(wait_of(claimed[0]) == "90");
  BOOST_TEST(wait_of(claimed[1]) == "2");
}

BOOST_AUTO_TEST_CASE(text_from_outside_is_cleaned_before_it_is_stored) {
  const auto campaign = make_campaign(2);
  const auto claimed = claim_due(campaign, 1);
  auto dirty = make_outcome(claimed[0], outcome_kind::rejected);
  dirty.diagnostic = std::string{"a\0b\x1b[31m\xff\xc3\xa4\n\\\"{,}'", 17};
  auto endless = make_outcome(claimed[1], outcome_kind::unknown);
  for (int i = 0; i < 3000; ++i)
    endless.diagnostic += "\xe2\x82\xac";
  BOOST_TEST(record({dirty, endless}).changed == 2);
  BOOST_TEST(show(claimed[0]).diagnostic == "ab[31m\xef\xbf\xbd\xc3\xa4 \\\"{,}");
  BOOST_TEST(show(claimed[1]).diagnostic.size() == 3000U);
}

BOOST_AUTO_TEST_CASE(cleaning_knows_overlong_forms_surrogates_and_cut_sequences) {
  const std::string mark = "\xef\xbf\xbd";
  BOOST_TEST(clean_text("\xc0\x80") == mark + mark);
  BOOST_TEST(clean_text("\xed\xa0\x80") == mark + mark + mark);
  BOOST_TEST(clean_text("\xe2\x82") == mark + mark);
  BOOST_TEST(clean_text("\xf0\x9f\x93\xac") == "\xf0\x9f\x93\xac");
  BOOST_TEST(clean_text("\xf4\x90\x80\x80").size() == 4 * mark.size());
  BOOST_TEST(clean_text("\xc2\x85x\x7f") == "x");
}

BOOST_AUTO_TEST_CASE(the_curve_counts_starts_by_second_and_the_counters_their_ends) {
  const auto campaign = make_campaign(4);
  const auto claimed = claim_due(campaign, 1);
  record({make_outcome(claimed[0], outcome_kind::accepted, 2'000'000'000),
          make_outcome(claimed[1], outcome_kind::throttled, 2'000'000'000),
          make_outcome(claimed[2], outcome_kind::not_started)});
  record({make_outcome(claimed[3], outcome_kind::accepted, 2'000'000'003)}, 2);
  const auto drawn = must(dispatch_curve(*db, campaign));
  BOOST_TEST(drawn.first_second == 2'000'000'000);
  BOOST_TEST(drawn.starts == (std::vector<std::int64_t>{2, 0, 0, 1}),
             boost::test_tools::per_element());
  const auto view = must(show_campaign(*db, campaign));
  BOOST_TEST(view.last_start_s.value() - view.first_start_s.value() == 3.0,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(view.throttled == 1);
}

BOOST_AUTO_TEST_CASE(two_last_records_see_each_other_as_open_and_the_campaign_still_finishes) {
  const auto campaign = make_campaign(2);
  const auto claimed = claim_due(campaign, 1);
  const auto other = connect();
  std::future<record_reply> second;
  const auto first = must(db->in_transaction([&](session& open) {
    auto reply = record_outcomes(open, {make_outcome(claimed[0], outcome_kind::accepted)}, {}, 1);
    second = std::async(std::launch::async, [&] {
      return must(
          record_outcomes(*other, {make_outcome(claimed[1], outcome_kind::accepted)}, {}, 2));
    });
    BOOST_TEST(second.get().streams.at(0).open_left == 1);
    return reply;
  }));
  BOOST_TEST(first.streams.at(0).open_left == 1);
  BOOST_TEST(must(finish_campaign(*db, campaign)));
  BOOST_TEST(!must(finish_campaign(*other, campaign)));
  BOOST_TEST(must(show_campaign(*db, campaign)).state == "finished");
}

BOOST_AUTO_TEST_CASE(the_sweep_takes_only_what_a_lost_epoch_left_attempting_for_long) {
  const auto campaign = make_campaign(4);
  const auto left = claim_due(campaign, 1, 2);
  BOOST_TEST(must(sweep_interrupted(*db, nanoseconds{0}, 100, 9)).changed == 0);
  lose_epoch();
  claim_due(campaign, 1, 1); // by the new owner
  BOOST_TEST(must(sweep_interrupted(*db, std::chrono::minutes{3}, 100, 9)).changed == 0);
  BOOST_TEST(ask("SELECT count(*) FROM lost_epochs") == "1");
  const auto swept = must(sweep_interrupted(*db, nanoseconds{0}, 1, 9));
  BOOST_TEST(swept.changed == 1);
  BOOST_TEST(swept.streams.at(0).open_left == 3);
  BOOST_TEST(must(sweep_interrupted(*db, nanoseconds{0}, 100, 9)).changed == 1);
  BOOST_TEST(states(campaign) == "queued=1 attempting=1 acceptance_unknown=2");
  BOOST_TEST((show(left[0]).reason == reason_code::interrupted_provider_attempt));
  BOOST_TEST(must(sweep_interrupted(*db, nanoseconds{0}, 100, 9)).changed == 0);
  BOOST_TEST(ask("SELECT count(*) FROM lost_epochs") == "0");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_message_that_finishes_while_the_sweep_waits_stays_finished) {
  const auto campaign = make_campaign(2);
  const auto left = claim_due(campaign, 1);
  lose_epoch();
  const auto other = connect();
  std::future<record_reply> sweep;
  must(db->in_transaction([&](session& open) {
    auto reply = record_outcomes(open, {make_outcome(left[0], outcome_kind::accepted)}, {}, 1);
    sweep = start_blocked(
        *other, [&other] { return must(sweep_interrupted(*other, nanoseconds{0}, 100, 9)); });
    return reply;
  }));
  BOOST_TEST(sweep.get().changed == 1);
  BOOST_TEST(states(campaign) == "acceptance_unknown=1 accepted=1");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_message_claimed_afresh_while_the_sweep_waits_stays_attempting) {
  const auto campaign = make_campaign(1);
  const auto left = claim_due(campaign, 1);
  lose_epoch();
  const auto other = connect();
  std::future<record_reply> sweep;
  must(db->in_transaction([&](session& open) {
    must(record_outcomes(open, {make_outcome(left[0], outcome_kind::not_started)}, {}, 1));
    sweep = start_blocked(
        *other, [&other] { return must(sweep_interrupted(*other, nanoseconds{0}, 100, 9)); });
    reserve_request again;
    again.sources.push_back({campaign, reserve_part::own, {}, 10});
    const auto rows = must(reserve_due(open, again)).at(0).rows;
    return claim_group(open, ask_for(rows, 1));
  }));
  BOOST_TEST(sweep.get().changed == 0);
  BOOST_TEST(states(campaign) == "attempting=1");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_SUITE_END()
