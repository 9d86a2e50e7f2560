/// What operators do to a running installation: pause, rates, stopping nodes, reloading.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct operated_installation : installation {
  explicit operated_installation(std::vector<std::string> settings = {})
      : installation(std::move(settings)) {}

  /// Target of the route as nodes read it now, in thousandths.
  std::string target() {
    return ask("SELECT v.target_mhz FROM route_readings v JOIN routes r USING (id)"
               " WHERE r.region = 'sim'");
  }
  void wait_for_target(served_node& node, const std::string& millihertz) {
    node.wait_until("the target is " + millihertz, [&] { return target() == millihertz; });
  }
  /// Ledger lines of one campaign that started after that moment.
  std::vector<ledger_line> started_after(std::int64_t moment, std::int64_t campaign) {
    auto lines = only(
        ledger(), ids("SELECT id FROM message_states WHERE stream = " + std::to_string(campaign)));
    std::erase_if(lines, [moment](const ledger_line& line) { return line.started_ns <= moment; });
    return lines;
  }
  /// The configuration file with one text in place of another.
  void configure(const std::string& what, const std::string& instead) {
    const auto path = std::filesystem::path{ledger_file()}.parent_path() / "paceline.toml";
    std::stringstream text;
    text << std::ifstream{path}.rdbuf();
    auto changed = text.str();
    const auto at = changed.find(what);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, what);
    write("paceline.toml", changed.replace(at, what.size(), instead));
  }
  std::string audits(const std::string& action) {
    return ask("SELECT count(*) FROM audit_log WHERE actor LIKE 'cli:%@%' AND action = '" + action
               + "'");
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(operators)

BOOST_AUTO_TEST_CASE(a_paused_route_starts_nothing_until_it_is_resumed) {
  operated_installation home{
      {"routes.test:other.provider=simulated", "routes.test:other.shards=1"}};
  auto node = home.serve();
  const auto campaign = home.send(400);
  node->wait_until("so many are sent", [&] { return home.sent() >= 100; });
  const auto paused =
      home.must_run({"routes", "pause", "test:sim", "--reason", "too many bounces"});
  const auto answered = now_ns();
  BOOST_TEST(paused == "Route test:sim is paused: nothing of it starts.\n");
  // Another route works meanwhile.
  home.must_run({"send", "--route", "test:other", "--from", "a@example.com", "--to",
                 "b@example.com", "--subject", "s", "--text", "t", "--wait"});
  BOOST_TEST(home.started_after(answered, campaign).size() == 0u);
  BOOST_TEST(home.ask("SELECT count(*) FROM message_states WHERE status = 0") != "0");
  BOOST_TEST(home.must_run({"status"}).find("test:sim is paused: too many bounces")
             != std::string::npos);
  BOOST_TEST(home.must_run({"routes", "resume", "test:sim"}) == "Route test:sim goes on.\n");
  node->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
  BOOST_TEST(home.states_of(campaign) == "accepted=400");
  BOOST_TEST(home.audits("route.pause") == "1");
  BOOST_TEST(home.audits("route.resume") == "1");
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_route_that_the_provider_stopped_goes_on_when_it_is_resumed) {
  operated_installation home;
  auto node = home.serve();
  home.send({"paused@simulator.paceline.test"});
  node->wait_until("the route stops",
                   [&] { return home.ask("SELECT state FROM routes") == "stopped"; });
  home.ask("UPDATE messages SET recipients = '{good@example.com}'");
  home.must_run({"routes", "resume", "test:sim", "--json"});
  node->wait_until("it is sent", [&] {
    return home.holds("EXISTS (SELECT FROM message_states WHERE status = 3)")
           || home.ask("SELECT state FROM routes") == "stopped";
  });
}

BOOST_AUTO_TEST_CASE(a_rate_set_by_an_operator_is_kept_until_it_is_cleared) {
  operated_installation home;
  auto node = home.serve();
  const auto campaign = home.send(600);
  node->wait_until("so many are sent", [&] { return home.sent() >= 50; });
  home.must_run({"routes", "set-rate", "test:sim", "40"});
  home.wait_for_target(*node, "40000");
  const auto begun = now_ns();
  const auto before = home.sent();
  node->wait_until("more are sent", [&] { return home.sent() >= before + 60; });
  BOOST_TEST(excess(home.started_after(begun, campaign), 40) <= 0);
  BOOST_TEST(home.must_run({"routes", "list"}).find("40/s") != std::string::npos);
  home.must_run({"routes", "set-rate", "test:sim", "--clear"});
  home.wait_for_target(*node, "200000");
  node->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
  BOOST_TEST(home.states_of(campaign) == "accepted=600");
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_resting_route_hears_of_a_new_rate_without_waiting_for_a_renewal) {
  operated_installation home{
      {"cluster.lease_ms=60000", "cluster.margin_ms=1000", "cluster.renew_ms=20000"}};
  auto node = home.serve();
  home.wait_for_target(*node, "200000");
  const auto renewals = [&] { return home.ask("SELECT sum(renewal) FROM shards"); };
  const auto before = renewals();
  home.must_run({"routes", "set-rate", "test:sim", "33"});
  home.wait_for_target(*node, "33000");
  BOOST_TEST(renewals() == before);
}

BOOST_AUTO_TEST_CASE(a_stopped_node_drains_and_leaves_nothing_in_doubt) {
  operated_installation home;
  auto node = home.serve();
  home.send(500);
  node->wait_until("so many are sent", [&] { return home.sent() >= 100; });
  const auto said = home.must_run({"node", "stop"});
  BOOST_TEST(said.find("has drained and stopped") != std::string::npos, said);
  BOOST_TEST(node->wait_for_end() == 0);
  BOOST_TEST(node->logged("nothing is in doubt") == 1);
  BOOST_TEST(home.ask("SELECT count(*) FROM message_states WHERE status IN (1, 2)") == "0");
  BOOST_TEST(home.ask("SELECT count(*) FROM shards WHERE owner IS NOT NULL") == "0");
  BOOST_TEST(home.audits("node.stop") == "1");
  const auto again = home.run({"node", "stop"});
  BOOST_TEST(again.status == 1);
  BOOST_TEST(again.errors == "paceline: No node is running.\n");
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(of_two_nodes_of_one_name_each_is_stopped_by_its_id_also_without_a_shard) {
  operated_installation home;
  auto first = home.serve("twin");
  first->wait_until("it has every shard", [&] {
    return home.ask("SELECT count(*) FROM shards WHERE owner IS NULL") == "0";
  });
  auto second = home.serve("twin");
  const auto unclear = home.run({"node", "stop", "twin"});
  BOOST_TEST(unclear.status == 2);
  BOOST_TEST(unclear.errors.find("give the id of one") != std::string::npos, unclear.errors);
  const auto shardless = home.ask("SELECT max(id) FROM nodes");
  BOOST_TEST(home.ask("SELECT count(*) FROM shards WHERE owner = " + shardless) == "0");
  home.must_run({"node", "stop", shardless});
  BOOST_TEST(second->wait_for_end() == 0);
  BOOST_TEST(first->is_running());
  home.must_run({"node", "stop", "twin"});
  BOOST_TEST(first->wait_for_end() == 0);
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_answer_is_given_up_on_with_1) {
  operated_installation home;
  auto node = home.serve();
  node->signal(SIGSTOP);
  const auto end = home.run({"node", "stop", "--timeout", "1s"});
  BOOST_TEST(end.status == 1);
  BOOST_TEST(end.errors.find("has not stopped in time") != std::string::npos, end.errors);
  node->signal(SIGCONT);
  BOOST_TEST(node->wait_for_end() == 0);
}

BOOST_AUTO_TEST_CASE(a_changed_rate_factor_takes_effect_by_sighup_and_what_does_not_is_named) {
  operated_installation home;
  auto node = home.serve();
  const auto campaign = home.send(500);
  node->wait_until("so many are sent", [&] { return home.sent() >= 50; });
  home.configure("shards = 4\n", "shards = 4\nrate_factor = 0.25\n");
  home.configure("poll_ms = 200\n", "poll_ms = 300\n");
  home.configure("format = \"json\"\n", "format = \"json\"\nlevel = \"debug\"\n");
  node->signal(SIGHUP);
  home.wait_for_target(*node, "50000");
  const auto begun = now_ns();
  const auto before = home.sent();
  node->wait_until("more are sent", [&] { return home.sent() >= before + 40; });
  BOOST_TEST(excess(home.started_after(begun, campaign), 50) <= 0);
  BOOST_TEST(node->logged("an option was changed\"") == 2);
  BOOST_TEST(node->logged("takes effect at the next start only") == 1);
  BOOST_TEST(node->logged("dispatch.poll_ms") == 1);
  home.configure("rate_factor = 0.25", "rate_factor = 1.0");
  node->signal(SIGHUP);
  home.wait_for_target(*node, "200000");
  node->wait_until("the campaign finishes", [&] { return home.is_over(campaign); });
  BOOST_TEST(home.states_of(campaign) == "accepted=500");
  BOOST_TEST(node->terminate() == 0);
  BOOST_TEST(home.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_configuration_with_errors_is_named_by_sighup_and_changes_nothing) {
  operated_installation home;
  auto node = home.serve();
  home.wait_for_target(*node, "200000");
  home.configure("shards = 4\n", "shards = 4\nrate_factor = 99\nnonsense = 1\n");
  node->signal(SIGHUP);
  node->wait_until("it says so", [&] { return node->logged("everything stays as it is") == 1; });
  BOOST_TEST(node->logged("rate_factor") >= 1);
  BOOST_TEST(node->logged("nonsense") >= 1);
  BOOST_TEST(home.target() == "200000");
  home.configure("rate_factor = 99\nnonsense = 1\n", "");
  const auto campaign = home.send(20);
  node->wait_until("it still sends", [&] { return home.is_over(campaign); });
}

BOOST_AUTO_TEST_CASE(a_watched_status_is_shown_again_and_again_until_ctrl_c) {
  operated_installation home;
  const auto config = std::filesystem::path{home.ledger_file()}.parent_path() / "paceline.toml";
  const auto watched = [&](std::vector<std::string> more) {
    std::vector<std::string> command{"timeout",  "--preserve-status", "-s",     "INT",
                                     "2.5",      PACELINE_PROGRAM,    "status", "--watch",
                                     "--config", config.string()};
    command.insert(command.end(), more.begin(), more.end());
    return run_program(command);
  };
  const auto count = [](const std::string& text, const std::string& what) {
    int found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  };
  const auto plain = watched({});
  BOOST_TEST(plain.status == 0);
  BOOST_TEST(count(plain.output, "ROUTE ") >= 2, plain.output);
  BOOST_TEST(plain.output.find('\x1b') == std::string::npos);
  const auto json = watched({"--json"});
  BOOST_TEST(json.status == 0);
  BOOST_TEST(count(json.output, "{\"routes\":[{") >= 2, json.output);
  BOOST_TEST(count(json.output, "\n") == count(json.output, "{\"routes\":[{"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
