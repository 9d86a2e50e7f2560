// Outcomes on their way into the database, in virtual time.

#include <boost/test/unit_test.hpp>

#include "actors/recorder.hpp"
#include "test/actor/listener.hpp"
#include "test/support/captured_log.hpp"
#include "test/support/fake_stores.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

namespace {

struct recorder_stage {
  recorder_stage() {
    shard = time.spawn<listener>(shard_heard);
    auto campaigns = time.spawn<listener>(campaigns_heard);
    table.add_stream(stream_id{10});
    recorder = time.spawn<recorder_actor>(recorder_options{}, store, backlog, time, log.log,
                                          campaigns.address());
    caf::anon_send(recorder, know_shard{shard_id{1}, shard.address()});
    time.settle();
  }

  /// Claimed messages whose outcomes have not come.
  std::vector<message_id> claimed(int count) {
    auto ids = table.add(stream_id{10}, count, time.database_now());
    for (auto id : ids)
      table.messages.at(id).status = message_status::attempting;
    return ids;
  }

  static outcome made(message_id id, outcome_kind kind = outcome_kind::accepted) {
    outcome what;
    what.of = {id, 0};
    what.kind = kind;
    what.diagnostic = "250 fine";
    what.provider_id = "p-" + std::to_string(id.value());
    return what;
  }

  void bring(const std::vector<message_id>& ids, reason_code reason = reason_code::none) {
    auto deliveries = std::make_shared<std::vector<delivery>>();
    for (auto id : ids) {
      auto what = made(id, reason == reason_code::slot_missed ? outcome_kind::not_started
                                                              : outcome_kind::accepted);
      what.reason = reason;
      deliveries->push_back({{}, what});
    }
    caf::anon_send(recorder, bring_outcomes{shard_id{1}, std::move(deliveries)});
    time.settle();
  }

  std::size_t stored_rows() const {
    std::size_t rows = 0;
    for (const auto& batch : store.batches)
      rows += batch.stored ? batch.outcomes.size() : 0;
    return rows;
  }

  virtual_time time;
  captured_log log;
  fake_table table;
  record_backlog backlog{1000};
  fake_record_store store{time, table, 2ms};
  heard shard_heard, campaigns_heard, asking;
  caf::actor shard, recorder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(recorder, recorder_stage)

BOOST_AUTO_TEST_CASE(a_hundred_outcomes_are_stored_at_once) {
  bring(claimed(99));
  BOOST_TEST(store.batches.empty());
  bring(claimed(1));
  BOOST_REQUIRE(store.batches.size() == 1u);
  BOOST_TEST(store.batches[0].outcomes.size() == 100u);
}

BOOST_AUTO_TEST_CASE(fewer_are_stored_250_ms_after_the_oldest_came) {
  const auto began = time.now();
  bring(claimed(1));
  time.pass(200ms);
  bring(claimed(1));
  time.pass(100ms);
  BOOST_REQUIRE(store.batches.size() == 1u);
  BOOST_TEST(store.batches[0].outcomes.size() == 2u);
  BOOST_TEST((store.batches[0].at - began == 250ms));
}

BOOST_AUTO_TEST_CASE(the_shard_forgets_its_rows_when_they_are_stored_and_campaigns_hear_of_it) {
  bring(claimed(3));
  BOOST_TEST(shard_heard.taken.size() == 1u);
  time.pass(250ms);
  BOOST_TEST(shard_heard.forgotten.empty());
  time.pass(2ms);
  BOOST_REQUIRE(shard_heard.forgotten.size() == 1u);
  BOOST_TEST(shard_heard.forgotten[0].attempts.size() == 3u);
  BOOST_REQUIRE(campaigns_heard.finished.size() == 1u);
  BOOST_TEST((campaigns_heard.finished[0].streams[0].stream == stream_id{10}));
  BOOST_TEST(backlog.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(outcomes_are_kept_while_the_database_is_away_and_nothing_is_lost) {
  store.connection.away = true;
  for (int i = 0; i < 30; ++i) {
    bring(claimed(40));
    time.pass(1s);
  }
  BOOST_TEST(backlog.waiting() == 1200);
  BOOST_TEST(backlog.is_behind());
  BOOST_TEST(table.count(message_status::attempting) == 1200);
  BOOST_TEST(log.lines("kept and tried again").size() > 0u);
  // Each batch waits longer and longer: 200 ms doubling to 5 s.
  BOOST_TEST(store.batches.size() < 350u);
  store.connection.away = false;
  time.pass(10s);
  BOOST_TEST(table.count(message_status::accepted) == 1200);
  BOOST_TEST(backlog.waiting() == 0);
  BOOST_TEST(stored_rows() == 1200u);
}

BOOST_AUTO_TEST_CASE(a_batch_in_doubt_is_stored_again_and_counts_once) {
  store.connection.faults = {database_fault::in_doubt_after, database_fault::in_doubt_before};
  bring(claimed(10));
  time.pass(3s);
  BOOST_TEST(store.batches.size() == 3u);
  BOOST_TEST(table.count(message_status::accepted) == 10);
  BOOST_TEST(backlog.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_value_that_cannot_be_stored_is_isolated_and_goes_without_its_text) {
  const auto ids = claimed(64);
  store.is_poison = [bad = ids[37]](const outcome& what) {
    return what.of.message == bad && !(what.diagnostic.empty() && what.provider_id.empty());
  };
  bring(ids);
  time.pass(5s);
  BOOST_TEST(table.count(message_status::accepted) == 64);
  BOOST_TEST(stored_rows() == 64u);
  for (const auto& batch : store.batches)
    for (const auto& what : batch.outcomes)
      if (batch.stored)
        BOOST_TEST(what.diagnostic.empty() == (what.of.message == ids[37]));
  BOOST_TEST(store.batches.size() < 20u);
}

BOOST_AUTO_TEST_CASE(await_recorded_is_answered_when_nothing_waits_any_more) {
  auto asker = time.spawn<listener>(asking);
  store.connection.away = true;
  bring(claimed(5));
  caf::send_as(asker, recorder, await_recorded{});
  time.pass(3s);
  BOOST_TEST(asking.recorded == 0);
  store.connection.away = false;
  BOOST_TEST(time.pass_until([this] { return asking.recorded > 0; }, 10s));
  BOOST_TEST(table.count(message_status::accepted) == 5);
  time.pass(10s);
  BOOST_TEST(asking.recorded == 1);
}

BOOST_AUTO_TEST_CASE(await_recorded_does_not_wait_for_a_full_batch) {
  auto asker = time.spawn<listener>(asking);
  bring(claimed(5));
  caf::send_as(asker, recorder, await_recorded{});
  time.pass(5ms);
  BOOST_TEST(asking.recorded == 1);
}

BOOST_AUTO_TEST_CASE(a_missed_slot_is_the_living_shards_to_draw_again) {
  bring(claimed(1), reason_code::slot_missed);
  time.pass(1s);
  BOOST_TEST(shard_heard.taken.size() == 1u);
  BOOST_TEST(store.batches.empty());
}

BOOST_AUTO_TEST_CASE(a_missed_slot_of_a_shard_that_is_gone_gives_the_message_back) {
  const auto ids = claimed(1);
  caf::anon_send(recorder, forget_shard{shard_id{1}});
  bring(ids, reason_code::slot_missed);
  time.pass(1s);
  BOOST_TEST(table.count(message_status::queued) == 1);
  BOOST_TEST(shard_heard.taken.empty());
}

BOOST_AUTO_TEST_SUITE_END()
