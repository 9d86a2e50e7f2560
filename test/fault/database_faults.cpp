/// What becomes of a running campaign when the database restarts, cuts its sessions or hangs. The
/// node lives on and knows the outcome of every call, so nothing may become unknown.
#include <boost/test/unit_test.hpp>

#include <future>
#include <string>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

constexpr double target = 200;

class disturbed_run {
public:
  explicit disturbed_run(int recipients, std::vector<std::string> settings = {})
      : home(std::move(settings)), recipients_(recipients), node(home.serve()),
        campaign(home.send(recipients)) {
    sent(recipients / 5);
  }

  /// Waits until so many calls have been accepted.
  void sent(int lines) {
    node->wait_until("so many are sent",
                     [&] { return home.sent() >= static_cast<std::size_t>(lines); });
  }

  void finish() {
    node->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
    BOOST_TEST(home.states_of(campaign) == "accepted=" + std::to_string(recipients_));
    BOOST_TEST(home.broken() == "");
    BOOST_TEST(home.sent() == static_cast<std::size_t>(recipients_));
    BOOST_TEST(excess(home.ledger(), target) <= 0);
    BOOST_TEST(node->logged("a shard died") == 0);
    BOOST_TEST(node->terminate() == 0);
    BOOST_TEST(home.broken() == "");
  }

  installation home;

private:
  int recipients_;

public:
  std::unique_ptr<served_node> node;
  std::int64_t campaign;
};

/// Cuts all sessions of nodes, again and again until `times` sessions were cut.
void cut_sessions(installation& home, int times) {
  for (int cut = 0; cut < times;)
    cut += home.count("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                      " WHERE datname = current_database() AND application_name = 'paceline'");
}

} // namespace

BOOST_AUTO_TEST_SUITE(database_faults)

BOOST_AUTO_TEST_CASE(a_restart_of_the_database_is_survived_without_doubt) {
  disturbed_run run{600};
  installation::cluster().restart();
  run.finish();
}

BOOST_AUTO_TEST_CASE(a_power_cut_of_the_database_is_survived_without_doubt) {
  disturbed_run run{600};
  installation::cluster().stop(true);
  installation::cluster().start();
  run.finish();
}

BOOST_AUTO_TEST_CASE(a_database_that_is_away_for_longer_than_a_lease_is_survived) {
  disturbed_run run{600};
  const auto failed = [&] { return run.node->logged("ownership could not be renewed") >= 3; };
  installation::cluster().stop();
  // Deadlines have passed once renewals have failed for a lease; what was claimed comes back.
  run.node->wait_until("renewals fail", failed);
  hold_fault_for(std::chrono::seconds{2});
  installation::cluster().start();
  run.finish();
}

BOOST_AUTO_TEST_CASE(cut_sessions_are_replaced_without_doubt) {
  disturbed_run run{600};
  for (int lines : {150, 250, 350}) {
    run.sent(lines);
    cut_sessions(run.home, 4);
  }
  run.finish();
}

BOOST_AUTO_TEST_CASE(ten_seconds_of_slow_statements_are_survived_without_doubt) {
  disturbed_run run{600};
  run.home.ask("BEGIN; LOCK TABLE message_states IN ACCESS EXCLUSIVE MODE;"
               " SELECT pg_sleep(10); COMMIT");
  run.finish();
}

BOOST_AUTO_TEST_CASE(statements_that_time_out_are_repeated_without_doubt) {
  disturbed_run run{600, {"database.statement_timeout_ms=700"}};
  run.home.ask("BEGIN; LOCK TABLE message_states IN ACCESS EXCLUSIVE MODE;"
               " SELECT pg_sleep(4); COMMIT");
  run.finish();
}

/// A claim that takes more than a second is older than its slots may be: nothing starts meanwhile.
BOOST_AUTO_TEST_CASE(updates_that_take_long_stop_the_run_only_while_they_do,
                     *boost::unit_test::label("long")) {
  disturbed_run run{300};
  run.home.ask("CREATE FUNCTION drag() RETURNS trigger LANGUAGE plpgsql AS"
               " $$BEGIN PERFORM pg_sleep(2); RETURN NULL; END$$;"
               " CREATE TRIGGER dragged BEFORE UPDATE ON message_states"
               " FOR EACH STATEMENT EXECUTE FUNCTION drag()");
  hold_fault_for(std::chrono::seconds{12});
  BOOST_TEST(run.home.sent() < 300u);
  run.home.ask("DROP TRIGGER dragged ON message_states");
  run.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
