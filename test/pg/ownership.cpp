#include "test/pg/database_fixture.hpp"

#include <algorithm>

#include <boost/test/unit_test.hpp>

using namespace paceline;
using namespace paceline::test;

namespace {

class ownership_fixture : public route_fixture {
public:
  bool is_lost(epoch_id epoch) {
    return ask("SELECT count(*) FROM lost_epochs WHERE epoch = " + std::to_string(epoch.value()))
           == "1";
  }
  bool owns(const held_shard& held, node_id node) {
    const auto rows = must(list_shards(*db, route));
    return std::ranges::any_of(rows, [&](const shard_row& row) {
      return row.shard == held.shard && row.owner == node && row.epoch == held.epoch;
    });
  }
};

bool is_refused(const result<acquired_shard>& acquired) {
  return !acquired && acquired.failure().kind == error_kind::refused;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(ownership, ownership_fixture)

BOOST_AUTO_TEST_CASE(a_route_is_seeded_once_however_many_nodes_start) {
  std::vector<std::unique_ptr<session>> connections;
  std::vector<std::future<seeded_route>> running;
  for (int i = 0; i < 4; ++i)
    connections.push_back(connect());
  for (auto& on : connections)
    running.push_back(std::async(std::launch::async, [&on] {
      return must(seed_route(*on, {"live", "race"}, 3));
    }));
  const auto first = running.front().get();
  BOOST_TEST(first.shard_count == 3);
  for (std::size_t i = 1; i < running.size(); ++i)
    BOOST_TEST(running[i].get().route.value() == first.route.value());
  const auto shards = must(list_shards(*db, first.route));
  BOOST_REQUIRE(shards.size() == 3U);
  BOOST_TEST(shards[2].name.text() == "live:race:2/3");
  BOOST_TEST(shards[2].owner.value() == 0);
}

BOOST_AUTO_TEST_CASE(the_database_s_shard_count_wins_over_the_configuration_s) {
  const auto again = must(seed_route(*db, {"live", "r1"}, 16));
  BOOST_TEST(again.route.value() == route.value());
  BOOST_TEST(again.shard_count == 2);
  BOOST_TEST(must(list_shards(*db, route)).size() == 2U);
}

BOOST_AUTO_TEST_CASE(of_nodes_that_race_for_a_shard_exactly_one_wins) {
  const auto seen = shard(0);
  std::vector<std::unique_ptr<session>> connections;
  std::vector<std::future<result<acquired_shard>>> running;
  for (int i = 0; i < 4; ++i)
    connections.push_back(connect());
  for (auto& on : connections)
    running.push_back(std::async(std::launch::async,
                                 [&seen, &on, node = must(register_node(*db, "another", "1"))] {
                                   return acquire_shard(*on, node, seen);
                                 }));
  int won = 0;
  for (auto& one : running) {
    const auto acquired = one.get();
    won += acquired ? 1 : 0;
    BOOST_TEST((acquired || is_refused(acquired)));
  }
  BOOST_TEST(won == 1);
  BOOST_TEST(ask("SELECT count(*) FROM lost_epochs") == "0");
}

BOOST_AUTO_TEST_CASE(a_shard_that_was_renewed_since_can_t_be_taken) {
  const auto held = acquire(alice, 0);
  const auto seen = shard(0);
  must(renew_shards(*db, alice, {held}, {}));
  BOOST_TEST(is_refused(acquire_shard(*db, bob, seen)));
  BOOST_TEST(owns(held, alice));
}

BOOST_AUTO_TEST_CASE(a_takeover_notes_the_old_epoch_as_lost_and_the_old_owner_loses) {
  const auto held = acquire(alice, 0);
  ask("UPDATE shards SET last_slot_ns = 77, group_no = 9, in_flight = 3");
  const auto taken = must(acquire_shard(*db, bob, shard(0)));
  BOOST_TEST(is_lost(held.epoch));
  BOOST_TEST(taken.epoch.value() > held.epoch.value());
  BOOST_TEST(taken.last_slot.time_since_epoch().count() == 77);
  BOOST_TEST(ask("SELECT group_no + in_flight FROM shards WHERE index = 0") == "0");
  BOOST_TEST(must(renew_shards(*db, alice, {held}, {})).renewed.empty());
  must(release_shards(*db, alice, {held}));
  must(abandon_shard(*db, alice, held));
  BOOST_TEST(owns({held.shard, taken.epoch, 0}, bob));
  BOOST_TEST(!is_lost(taken.epoch));
}

BOOST_AUTO_TEST_CASE(an_acquisition_whose_answer_was_lost_can_be_repeated) {
  const auto seen = shard(0);
  must(acquire_shard(*db, alice, seen));
  const auto again = must(acquire_shard(*db, alice, seen));
  BOOST_TEST(owns({seen.shard, again.epoch, 0}, alice));
  BOOST_TEST(is_refused(acquire_shard(*db, bob, seen)));
}

BOOST_AUTO_TEST_CASE(a_shard_of_an_older_generation_can_t_be_taken) {
  const auto seen = shard(0);
  ask("UPDATE routes SET generation = 2");
  BOOST_TEST(is_refused(acquire_shard(*db, alice, seen)));
}

BOOST_AUTO_TEST_CASE(an_acquisition_waits_for_a_change_of_topology_and_obeys_it) {
  const auto seen = shard(0);
  pqxx::connection other{dsn};
  pqxx::work change{other};
  change.exec("UPDATE routes SET generation = 2");
  auto acquiring =
      std::async(std::launch::async, [this, &seen] { return acquire_shard(*db, alice, seen); });
  wait_until("EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = "
             + std::to_string(db->raw().backendpid()) + ")");
  change.commit();
  BOOST_TEST(is_refused(acquiring.get()));
}

BOOST_AUTO_TEST_CASE(a_released_shard_is_free_at_once_and_nothing_is_lost) {
  const auto held = acquire(alice, 0);
  must(release_shards(*db, alice, {held}));
  must(release_shards(*db, alice, {held}));
  BOOST_TEST(shard(0).owner.value() == 0);
  // Whatever of the old owner still travels finds another epoch.
  BOOST_TEST((shard(0).epoch != held.epoch));
  acquire(bob, 0);
  BOOST_TEST(ask("SELECT count(*) FROM lost_epochs") == "0");
}

BOOST_AUTO_TEST_CASE(an_abandoned_shard_is_free_and_its_epoch_is_lost) {
  const auto held = acquire(alice, 0);
  must(abandon_shard(*db, alice, held));
  must(abandon_shard(*db, alice, held));
  BOOST_TEST(is_lost(held.epoch));
  BOOST_TEST(shard(0).owner.value() == 0);
  BOOST_TEST((shard(0).epoch != held.epoch));
}

BOOST_AUTO_TEST_CASE(a_renewal_counts_on_publishes_and_reads_the_routes) {
  auto first = acquire(alice, 0);
  const auto second = acquire(alice, 1);
  first.in_flight = 12;
  must(set_target(*db, route, alice, rate::per_second(22), {}));
  const auto before = shard(0).renewal;
  const auto reply = must(renew_shards(*db, alice, {first, second}, {route}));
  BOOST_TEST(reply.renewed.size() == 2U);
  BOOST_TEST(shard(0).renewal == before + 1);
  BOOST_TEST(shard(0).in_flight == 12);
  BOOST_TEST(shard(0).owner_name == "alice");
  BOOST_REQUIRE(reply.routes.size() == 1U);
  BOOST_TEST(reply.routes[0].next.value().target.per_second() == 22.0);
  BOOST_TEST((reply.routes[0].read_at <= must(read_clock(*db))));
}

BOOST_AUTO_TEST_CASE(a_node_without_shards_or_routes_renews_nothing) {
  const auto reply = must(renew_shards(*db, alice, {}, {}));
  BOOST_TEST(reply.routes.empty());
  BOOST_TEST(reply.renewed.empty());
}

BOOST_AUTO_TEST_CASE(a_retired_node_is_marked) {
  must(retire_node(*db, alice));
  BOOST_TEST(ask("SELECT count(*) FROM nodes WHERE stopped_at IS NOT NULL") == "1");
}

BOOST_AUTO_TEST_CASE(a_server_that_may_forget_commits_is_refused) {
  must(check_durability(*db));
  for (const std::string value : {"off", "local"}) {
    ask("ALTER ROLE CURRENT_USER IN DATABASE " + ask("SELECT current_database()")
        + " SET synchronous_commit = " + value);
    const auto checked = check_durability(*connect());
    BOOST_REQUIRE(!checked);
    BOOST_TEST((checked.failure().kind == error_kind::refused));
    BOOST_TEST(checked.failure().text.find("synchronous_commit") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_server_without_fsync_is_refused) {
  private_postgres careless{{"fsync=off"}};
  connection_options to_careless;
  to_careless.dsn = careless.dsn();
  const auto on = must(session::open(to_careless, counts));
  BOOST_TEST(check_durability(*on).failure().text.find("fsync") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(round_trips_and_lanes_are_what_they_say) {
  const auto trips = must(measure_round_trips(*db));
  BOOST_TEST(trips.small.count() > 0);
  BOOST_TEST(trips.large.count() > 0);
  const auto lane = must(next_id_lane(*db));
  BOOST_TEST((lane >= 0 && lane <= 1023));
  BOOST_TEST(must(next_id_lane(*db)) != lane);
}

BOOST_AUTO_TEST_SUITE_END()
