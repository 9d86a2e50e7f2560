/// The cluster that all other tests of this folder stand on.
#include "test/support/private_postgres.hpp"

#include "test/support/run_program.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

using paceline::test::private_postgres;
using paceline::test::run_program;

std::string ask(const std::string& dsn, const std::string& statement) {
  const auto end = run_program({"psql", "-XAtq", "--dbname", dsn, "--command", statement});
  if (end.status != 0)
    throw std::runtime_error(end.errors);
  auto answer = end.output;
  if (!answer.empty())
    answer.pop_back();
  return answer;
}

} // namespace

BOOST_AUTO_TEST_SUITE(private_postgres_cluster)

BOOST_AUTO_TEST_CASE(databases_of_one_name_are_empty_and_apart) {
  private_postgres cluster;
  const auto first = cluster.create_database("rows");
  const auto second = cluster.create_database("rows");
  ask(first, "CREATE TABLE seen (id int)");
  BOOST_TEST(ask(first, "SELECT count(*) FROM pg_class WHERE relname = 'seen'") == "1");
  BOOST_TEST(ask(second, "SELECT count(*) FROM pg_class WHERE relname = 'seen'") == "0");
}

BOOST_AUTO_TEST_CASE(committed_rows_survive_a_power_cut_and_the_address_stays) {
  private_postgres cluster;
  const auto dsn = cluster.create_database("power");
  ask(dsn, "CREATE TABLE seen (id int)");
  cluster.stop(true);
  BOOST_CHECK_THROW(ask(dsn, "SELECT 1"), std::runtime_error);
  cluster.start();
  cluster.restart();
  BOOST_TEST(ask(dsn, "SELECT count(*) FROM seen") == "0");
}

BOOST_AUTO_TEST_CASE(it_is_as_durable_as_a_real_cluster) {
  private_postgres cluster({"log_statement=all"});
  BOOST_TEST(ask(cluster.dsn(), "SHOW fsync") == "on");
  BOOST_TEST(ask(cluster.dsn(), "SHOW synchronous_commit") == "on");
  BOOST_TEST(ask(cluster.dsn(), "SHOW log_statement") == "all");
}

BOOST_AUTO_TEST_CASE(a_bad_setting_is_reported_with_the_log_and_leaves_nothing) {
  std::string message;
  try {
    private_postgres cluster({"no_such_setting=1"});
  } catch (const std::runtime_error& failure) {
    message = failure.what();
  }
  BOOST_TEST(message.find("no_such_setting") != std::string::npos);
  const auto folder = message.find("/tmp/paceline-test-");
  BOOST_REQUIRE(folder != std::string::npos);
  const auto length = std::string("/tmp/paceline-test-XXXXXX").size();
  BOOST_TEST(!std::filesystem::exists(message.substr(folder, length)));
}

BOOST_AUTO_TEST_SUITE_END()
