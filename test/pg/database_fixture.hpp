/// Fresh databases on one private cluster for all tests of the storage floor: empty, migrated, or
/// with a route and two nodes.
#pragma once

#include <future>
#include <memory>
#include <string>

#include "storage/ownership.hpp"
#include "storage/quota.hpp"
#include "storage/schema.hpp"
#include "storage/session.hpp"
#include "test/pg/dispatch_fixture.hpp" // must
#include "test/support/private_postgres.hpp"

namespace paceline::test {

/// The program's cluster; started by the first case that needs it.
private_postgres& shared_cluster();

/// An empty database.
class database_fixture {
public:
  database_fixture();

  connection_options options() const;
  std::unique_ptr<session> connect();
  /// The first value of a statement, as text, by a connection of its own.
  std::string ask(const std::string& statement);
  /// Returns once `condition` (SQL, a boolean) holds; throws after half a minute.
  void wait_until(const std::string& condition);
  /// Ends a session's backend and returns once it is gone.
  void terminate(session& victim);
  /// Runs one statement that is not one of ours.
  static result<pqxx::result> run(session& on, const std::string& text);

  std::string dsn;
  statement_counts counts;

private:
  std::unique_ptr<pqxx::connection> observer_;
};

/// Migrated; `db` is connected after the settings of the role hold.
class migrated_fixture : public database_fixture {
public:
  migrated_fixture();
  std::unique_ptr<session> db;
};

/// A route `live:r1` with two free shards, and two nodes.
class route_fixture : public migrated_fixture {
public:
  route_fixture();
  shard_row shard(std::size_t index); ///< as it is now
  held_shard acquire(node_id node, std::size_t index);

  route_id route;
  node_id alice, bob;
};

} // namespace paceline::test
