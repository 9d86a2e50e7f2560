#include "test/pg/database_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/migration_list.hpp"
#include "storage/sql/queries.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

std::size_t applied_now(const std::vector<migration_step>& steps) {
  std::size_t count = 0;
  for (const auto& step : steps)
    count += step.applied_now ? 1 : 0;
  return count;
}

bool is_refused(const error& failure, std::string_view part) {
  BOOST_TEST_MESSAGE(failure.text);
  return failure.kind == error_kind::refused && failure.text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(schema)

BOOST_FIXTURE_TEST_CASE(nodes_that_migrate_at_once_apply_each_step_once, database_fixture) {
  std::vector<std::unique_ptr<session>> connections;
  std::vector<std::future<std::size_t>> running;
  for (int i = 0; i < 4; ++i)
    connections.push_back(connect());
  for (auto& on : connections)
    running.push_back(
        std::async(std::launch::async, [&on] { return applied_now(must(migrate(*on, nullptr))); }));
  std::size_t applied = 0;
  for (auto& one : running)
    applied += one.get();
  BOOST_TEST(applied == all_migrations.size());
  BOOST_TEST(ask("SELECT count(*) FROM schema_migrations")
             == std::to_string(all_migrations.size()));
  must(check_schema(*connections.front()));
}

BOOST_FIXTURE_TEST_CASE(migrating_again_changes_nothing, migrated_fixture) {
  BOOST_TEST(applied_now(must(migrate(*db, nullptr))) == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_landed_migration_that_differs_is_refused, migrated_fixture) {
  ask("UPDATE schema_migrations SET checksum = repeat('0', 64) WHERE number = 1");
  BOOST_TEST(is_refused(migrate(*db, nullptr).failure(), "0001 create_dispatch"));
  BOOST_TEST(is_refused(check_schema(*db).failure(), "0001 create_dispatch"));
}

BOOST_FIXTURE_TEST_CASE(a_newer_database_is_not_migrated_but_worked_with, migrated_fixture) {
  ask("INSERT INTO schema_migrations (number, name, checksum) VALUES ("
      + std::to_string(all_migrations.size() + 1) + ", 'from_the_future', '')");
  BOOST_TEST(is_refused(migrate(*db, nullptr).failure(), "newer"));
  BOOST_TEST(bool{check_schema(*db)});
}

BOOST_FIXTURE_TEST_CASE(an_empty_database_is_told_to_migrate, database_fixture) {
  BOOST_TEST(is_refused(check_schema(*connect()).failure(), "paceline migrate"));
}

BOOST_FIXTURE_TEST_CASE(later_sessions_have_the_settings_of_the_role, migrated_fixture) {
  const auto show = [this](const std::string& name) {
    return must(run(*db, "SHOW " + name))[0][0].as<std::string>();
  };
  BOOST_TEST(show("plan_cache_mode") == "force_generic_plan");
  BOOST_TEST(show("statement_timeout") == "15s"); // the connection's own; the role's is a minute
  BOOST_TEST(show("idle_in_transaction_session_timeout") == "1min");
  BOOST_TEST(show("timezone") == "UTC");
}

BOOST_FIXTURE_TEST_CASE(every_query_can_be_prepared, migrated_fixture) {
  for (const auto* query : sql::all_queries) {
    const std::string name{query->name};
    db->raw().prepare(name, std::string{query->text});
    try {
      db->raw().prepare_now(name);
    } catch (const std::exception& e) {
      BOOST_ERROR(name + ": " + e.what());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
