#include "test/pg/database_fixture.hpp"

#include <stdexcept>

namespace paceline::test {

private_postgres& shared_cluster() {
  static private_postgres cluster;
  return cluster;
}

database_fixture::database_fixture()
    : dsn(shared_cluster().create_database("store")),
      observer_(std::make_unique<pqxx::connection>(dsn)) {}

connection_options database_fixture::options() const {
  connection_options made;
  made.dsn = dsn;
  return made;
}

std::unique_ptr<session> database_fixture::connect() {
  return must(session::open(options(), counts));
}

std::string database_fixture::ask(const std::string& statement) {
  pqxx::nontransaction on{*observer_};
  const auto rows = on.exec(statement);
  return rows.empty() || rows.columns() == 0 ? std::string{} : std::string{rows[0][0].c_str()};
}

void database_fixture::wait_until(const std::string& condition) {
  const auto deadline = boot_clock::now() + std::chrono::seconds{30};
  while (ask("SELECT " + condition) != "t")
    if (boot_clock::now() > deadline)
      throw std::runtime_error("never came true: " + condition);
}

void database_fixture::terminate(session& victim) {
  const auto pid = std::to_string(victim.raw().backendpid());
  ask("SELECT pg_terminate_backend(" + pid + ")");
  wait_until("NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = " + pid + ")");
}

result<pqxx::result> database_fixture::run(session& on, const std::string& text) {
  try {
    // Unprepared: a prepared statement's name would have to outlive the session.
    pqxx::nontransaction alone{on.raw()};
    return alone.exec(text);
  } catch (const std::exception& e) {
    return error{error_kind::internal, e.what()};
  }
}

migrated_fixture::migrated_fixture() {
  must(migrate(*connect(), nullptr));
  db = connect();
}

route_fixture::route_fixture() {
  route = must(seed_route(*db, {"live", "r1"}, 2)).route;
  alice = must(register_node(*db, "alice", "1"));
  bob = must(register_node(*db, "bob", "1"));
}

shard_row route_fixture::shard(std::size_t index) {
  return must(list_shards(*db, route)).at(index);
}

held_shard route_fixture::acquire(node_id node, std::size_t index) {
  const auto seen = shard(index);
  return {seen.shard, must(acquire_shard(*db, node, seen)).epoch, 0};
}

} // namespace paceline::test
