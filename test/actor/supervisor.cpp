// The supervisor in virtual time. Its polls go to a pool that has stopped and answers at once that
// it can't; the test gives the answers instead.

#include <boost/test/unit_test.hpp>

#include "actors/supervisor.hpp"
#include "config/metric_list.hpp"
#include "test/actor/listener.hpp"
#include "test/support/captured_log.hpp"
#include "test/support/read_metrics.hpp"
#include "test/support/fake_stores.hpp"
#include "test/support/virtual_desk.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

namespace {

class fake_directory final : public shard_store_directory {
public:
  fake_directory(virtual_time& time, fake_table& table, const record_backlog& backlog)
      : store(time, table, backlog, 4ms) {}
  shard_store& store_of(const shard_row&, route_id) override { return store; }
  fake_shard_store store;
};

struct supervisor_stage {
  supervisor_stage() {
    pool.stop();
    table.route.route = route_id{1};
    table.route.current = {1, time.database_now(), rate::per_second(20)};
    table.add_stream(stream_id{10});
    desk.add_route(route_id{1});
    supervisor_options options;
    options.node_name = "alice";
    options.routes.push_back({route_id{1},
                              "test:sim",
                              time.spawn<listener>(quota),
                              {},
                              route_instruments{measured, "test:sim"}});
    options.clock_error = measured.get(metric::clock_error);
    auto recorder = time.spawn<listener>(recorder_heard);
    desk.use(recorder.address());
    supervisor_surroundings around{
        pool, stores, desk, time, log.log, recorder, time.spawn<listener>(campaigns)};
    supervisor =
        time.spawn<supervisor_actor>(std::move(options), std::move(around), [this] { ++drained; });
    caf::anon_send(supervisor, meet_cluster{time.spawn<listener>(cluster)});
    renew();
  }

  void renew() {
    use_reading fresh{table.route, time.clock()};
    fresh.reading.read_at = time.database_now();
    caf::anon_send(supervisor, fresh);
    time.settle();
  }

  void start(std::int64_t epoch) {
    table.shards[shard_id{1}] = {epoch_id{epoch}, 0, time.database_now()};
    desk.set_deadline(shard_id{1}, epoch_id{epoch}, time.now() + 24h);
    start_shard order;
    order.shard.shard = shard_id{1};
    order.shard.name = {*route_name::parse("test:sim"), 0, 1};
    order.route = route_id{1};
    order.ownership = {epoch_id{epoch}, time.database_now()};
    caf::anon_send(supervisor, order);
    time.settle();
  }

  /// What a poll found.
  void answer_poll() {
    streams_polled answer;
    answer.streams =
        std::make_shared<const result<std::vector<due_stream>>>(table.due(time.database_now()));
    caf::anon_send(supervisor, answer);
    time.settle();
  }

  caf::actor shard_actor_now() const {
    return caf::actor_cast<caf::actor>(recorder_heard.known.back().actor);
  }

  metrics measured;
  virtual_time time;
  captured_log log;
  fake_table table;
  record_backlog backlog{1000};
  statement_counts counts;
  database_pool pool{{"host=/nowhere"}, 1, 1, counts};
  fake_directory stores{time, table, backlog};
  virtual_desk desk{time};
  heard quota, cluster, campaigns, recorder_heard;
  caf::actor supervisor;
  int drained = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(supervisor, supervisor_stage)

BOOST_AUTO_TEST_CASE(a_shard_that_dies_is_replaced_under_a_fresh_epoch) {
  start(100);
  BOOST_REQUIRE(recorder_heard.known.size() == 1u);
  table.add(stream_id{10}, 5, time.database_now());
  stores.store.throws = true;
  answer_poll();
  time.pass(1s);
  stores.store.throws = false;
  BOOST_REQUIRE(cluster.abandoned.size() == 1u);
  BOOST_TEST((cluster.abandoned[0].epoch == epoch_id{100}));
  BOOST_TEST(recorder_heard.gone.size() == 1u);
  BOOST_REQUIRE(desk.purges.size() == 1u);
  BOOST_TEST((desk.purges[0].second == reason_code::ownership_lost));
  BOOST_TEST((desk.deadlines.back().epoch == epoch_id{100}));
  BOOST_TEST((desk.deadlines.back().deadline == boot_instant{}));
  start(101);
  BOOST_REQUIRE(recorder_heard.known.size() == 2u);
  answer_poll();
  time.pass(2s);
  BOOST_TEST(desk.ledger.size() == 5u);
  BOOST_TEST((stores.store.claimed.back().epoch == epoch_id{101}));
}

BOOST_AUTO_TEST_CASE(what_a_node_owns_and_how_its_route_is_can_be_seen) {
  auto value = [this](std::string_view name, const std::string& labels) {
    return series_of(measured.exposition(), name).at(labels);
  };
  const std::string route = R"({route="test:sim"})";
  start(100);
  BOOST_TEST(value("paceline_shards_owned", route) == 1);
  BOOST_TEST(value("paceline_shards", route) == 1);
  BOOST_TEST(value("paceline_target_rate", route) == 20);
  BOOST_TEST(value("paceline_route_state", R"({route="test:sim",state="running"})") == 1);
  BOOST_TEST(value("paceline_braked", route) == 0);
  BOOST_TEST(value("paceline_share_rate", route) == 0);
  renew();
  BOOST_TEST(value("paceline_share_rate", route) == 20);
  table.route.state = route_state::waiting;
  table.route.brake_left = 5s;
  renew();
  BOOST_TEST(value("paceline_route_state", R"({route="test:sim",state="running"})") == 0);
  BOOST_TEST(value("paceline_route_state", R"({route="test:sim",state="waiting"})") == 1);
  BOOST_TEST(value("paceline_braked", route) == 1);
  const auto kept = shard_actor_now(); // as a timer that is still to come keeps it
  caf::anon_send(supervisor, stop_shard{shard_id{1}, epoch_id{100}});
  time.settle();
  BOOST_TEST(value("paceline_shards_owned", route) == 0);
  BOOST_TEST(value("paceline_share_rate", route) == 0);
  BOOST_TEST(value("paceline_clock_error_seconds", "") >= 0);
}

BOOST_AUTO_TEST_CASE(every_ownership_is_announced_once) {
  start(100);
  time.pass(1s);
  const auto lines = log.lines("\"SHARD_PLACED\"");
  BOOST_REQUIRE(lines.size() == 1u);
  for (const std::string part :
       {"\"shard\":\"test:sim:0/1\"", "\"node\":\"alice\"", "\"epoch\":100",
        "\"database_small_ms\":4", "\"database_large_ms\":4"})
    BOOST_TEST(lines[0].find(part) != std::string::npos, part << " is missing in " << lines[0]);
}

BOOST_AUTO_TEST_CASE(
    a_poll_that_finds_work_wakes_a_resting_shard_and_one_that_does_not_lets_it_be) {
  start(100);
  answer_poll();
  time.pass(3s);
  BOOST_TEST(stores.store.reads.statements == 1u); // the measurement
  table.add(stream_id{10}, 3, time.database_now());
  answer_poll();
  time.pass(2s);
  BOOST_TEST(desk.ledger.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_poll_that_failed_is_told_and_tried_again) {
  start(100);
  const auto before = log.lines("looking for due messages failed").size();
  time.pass(3s);
  const auto lines = log.lines("looking for due messages failed");
  BOOST_REQUIRE(lines.size() > before + 1);
  BOOST_TEST(lines.back().find("\"error\":\"") != std::string::npos, lines.back());
}

BOOST_AUTO_TEST_CASE(an_ended_run_is_followed_by_the_next_and_news_of_older_ones_by_nothing) {
  start(100);
  table.add(stream_id{10}, 100, time.database_now());
  answer_poll();
  for (int second = 0; second < 92; ++second) {
    if (second < 40)
      caf::anon_send(supervisor, end_run{shard_id{1}, 0, false});
    renew();
    time.pass(1s);
  }
  // Nobody records here, so the runs end by their time: at 45 and at 90 s.
  BOOST_TEST(log.lines("\"DISPATCH_RUN\"").size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_shard_of_another_epoch_is_not_stopped) {
  start(100);
  caf::anon_send(supervisor, stop_shard{shard_id{1}, epoch_id{99}});
  time.settle();
  BOOST_TEST(recorder_heard.gone.empty());
  caf::anon_send(supervisor, stop_shard{shard_id{1}, epoch_id{100}});
  time.settle();
  BOOST_TEST(recorder_heard.gone.size() == 1u);
  BOOST_TEST(cluster.abandoned.empty());
}

BOOST_AUTO_TEST_CASE(a_shard_that_was_taken_again_replaces_the_disowned_one) {
  start(100);
  start(101);
  BOOST_TEST(recorder_heard.gone.size() == 1u);
  BOOST_TEST(cluster.abandoned.empty());
  caf::anon_send(supervisor, stop_shard{shard_id{1}, epoch_id{101}});
  time.settle();
  BOOST_TEST(recorder_heard.gone.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_drain_waits_for_shards_then_records_then_ownership) {
  start(100);
  caf::anon_send(supervisor, drain_node{});
  time.settle();
  BOOST_TEST(recorder_heard.await == 1);
  BOOST_TEST(cluster.released == 0);
  caf::anon_send(supervisor, report_recorded{});
  time.settle();
  BOOST_TEST(cluster.released == 1);
  BOOST_TEST(drained == 0);
  caf::anon_send(supervisor, report_released{});
  time.settle();
  BOOST_TEST(drained == 1);
  start(101);
  BOOST_TEST(cluster.abandoned.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_drain_does_not_wait_for_a_shard_that_dies) {
  start(100);
  table.add(stream_id{10}, 50, time.database_now());
  answer_poll();
  time.pass(1s);
  caf::anon_send(supervisor, drain_node{});
  caf::anon_send_exit(shard_actor_now(), caf::exit_reason::unhandled_exception);
  time.pass(1s);
  BOOST_TEST(recorder_heard.await == 1);
}

BOOST_AUTO_TEST_SUITE_END()
