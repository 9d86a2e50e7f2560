/// Everything at once: no deadlock, and the sums hold whatever came in between.
#include "test/pg/dispatch_fixture.hpp"

#include <atomic>
#include <random>

#include <boost/test/unit_test.hpp>

#include "storage/keys.hpp"
#include "storage/suppressions.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// One of four workers: its own connection, shard, writer and dice.
class worker {
public:
  worker(dispatch_fixture& world, std::vector<stream_id> streams, std::vector<key_id> keys,
         int number, unsigned seed)
      : world_(world), streams_(std::move(streams)), keys_(std::move(keys)), number_(number),
        dice_(seed), on_(world.connect()) {}

  /// A step fails only by a bug: nothing here may deadlock or be refused by a constraint.
  void step() {
    const auto campaign = streams_.at(roll(streams_.size()));
    const auto choice = roll(21);
    if (choice < 8)
      claim();
    else if (choice < 14)
      record();
    else if (choice == 14)
      must_unless_refused(pause_campaign(*on_, campaign, "cli:test"));
    else if (choice < 17)
      must_unless_refused(resume_campaign(*on_, campaign, "cli:test"));
    else if (choice == 17)
      suppress();
    else if (choice == 18)
      must(expand_page(*on_, campaign, 40, number_));
    else if (choice == 20)
      use_keys();
    else
      end(campaign);
  }

  /// Stores what is still open of its own.
  void settle() {
    while (!held_.empty())
      record();
  }

private:
  std::size_t roll(std::size_t sides) { return dice_() % sides; }

  static void must_unless_refused(const result<done>& got) {
    if (!got && got.failure().kind != error_kind::refused)
      throw std::runtime_error(got.failure().text);
  }

  void claim() {
    reserve_request request;
    for (const auto stream : streams_)
      request.sources.push_back({stream, reserve_part::own, {}, 12});
    std::vector<due_message> rows;
    for (auto& page : must(reserve_due(*on_, request)))
      rows.insert(rows.end(), page.rows.begin(), page.rows.end());
    if (rows.empty())
      return;
    std::shuffle(rows.begin(), rows.end(), dice_);
    for (const auto& row : must(claim_group(*on_, world_.ask_for(rows, ++group_, number_))).rows)
      held_.push_back(row.of);
    must(settle_skipped(*on_, attempts_of(rows), number_));
  }

  void record() {
    std::vector<outcome> outcomes;
    for (std::size_t i = roll(30) + 1; i > 0 && !held_.empty(); --i) {
      outcomes.push_back(make_outcome(held_.back(), static_cast<outcome_kind>(roll(5))));
      held_.pop_back();
    }
    backoff_settings quick;
    quick.first = quick.longest = nanoseconds{0};
    std::shuffle(outcomes.begin(), outcomes.end(), dice_);
    must(record_outcomes(*on_, outcomes, quick, number_));
    must(record_outcomes(*on_, outcomes, quick, number_));
  }

  void suppress() {
    std::vector<std::string> addresses;
    for (int i = 0; i < 3; ++i)
      addresses.push_back(
          std::string{"r"}.append(std::to_string(roll(200))).append("@example.org"));
    must(add_suppressions(*on_, project_id{1}, "test", addresses, "operator", "cli:me"));
    must(remove_suppressions(*on_, project_id{1}, "test", {addresses.front()}, "cli:me"));
  }

  void use_keys() {
    must(touch_keys(*on_, keys_));
    if (roll(20) == 0)
      must(revoke_key(*on_, keys_.at(roll(keys_.size())), "cli:test"));
  }

  void end(stream_id campaign) {
    if (roll(15) == 0)
      must_unless_refused(cancel_campaign(*on_, campaign, "cli:test"));
    must(cancel_page(*on_, campaign, 20, number_));
    must(finish_campaign(*on_, campaign));
    must(sweep_interrupted(*on_, nanoseconds{0}, 10, number_));
  }

  dispatch_fixture& world_;
  std::vector<stream_id> streams_;
  std::vector<key_id> keys_;
  int number_;
  std::mt19937 dice_;
  std::unique_ptr<session> on_;
  int group_ = 0;
  std::vector<attempt> held_;
};

constexpr int rounds = 200;
constexpr unsigned seed = 20;

} // namespace

BOOST_FIXTURE_TEST_SUITE(rounds_of_everything, dispatch_fixture)

BOOST_AUTO_TEST_CASE(four_workers_never_deadlock_and_the_counters_add_up) {
  BOOST_TEST_MESSAGE("seed " << seed);
  std::vector<stream_id> streams;
  for (int i = 0; i < 5; ++i)
    streams.push_back(make_campaign(200, false));
  std::vector<key_id> keys;
  for (int i = 0; i < 3; ++i) {
    new_key key;
    key.environment = "test";
    key.name = std::string{"k"}.append(std::to_string(i));
    key.scopes = {key_scope::send};
    keys.push_back(must(create_key(*db, ids, key, "cli:test")));
    ask("UPDATE messages SET key = " + std::to_string(keys.back().value())
        + " WHERE ordinal % 5 = " + std::to_string(i));
  }
  for (const auto stream : streams)
    must(expand_page(*db, stream, 80, 0));
  std::vector<std::future<void>> running;
  for (int number = 0; number < 4; ++number)
    running.push_back(std::async(std::launch::async, [this, streams, keys, number] {
      worker one{*this, streams, keys, number, seed + static_cast<unsigned>(number)};
      for (int round = 0; round < rounds; ++round)
        one.step();
      one.settle();
    }));
  for (auto& one : running)
    one.get();
  BOOST_TEST(counters_match());
  BOOST_TEST(ask("SELECT count(*) FROM message_states WHERE status = 1") == "0");
  // Promise 2: audience = not yet expanded + all that the counters know.
  BOOST_TEST(ask("SELECT count(*) FROM campaigns c WHERE expanded <> (SELECT sum(total) "
                 "FROM counters k WHERE k.stream = c.id)")
             == "0");
  BOOST_TEST(ask("SELECT count(*) FROM campaigns c WHERE state = 'finished' AND (SELECT sum(open) "
                 "FROM counters k WHERE k.stream = c.id) <> 0")
             == "0");
  BOOST_TEST_MESSAGE(ask("SELECT string_agg(state || ' ' || n, ', ') FROM (SELECT state, count(*) "
                         "AS n FROM campaigns GROUP BY 1) s"));
}

BOOST_AUTO_TEST_SUITE_END()
