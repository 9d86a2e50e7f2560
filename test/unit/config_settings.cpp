#include "test/unit/config_support.hpp"

#include "config/options.hpp"
#include "config/values.hpp"

using namespace paceline;
using namespace paceline::config_test;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(config_settings)

BOOST_AUTO_TEST_CASE(the_least_configuration_gets_every_default) {
  auto s = loaded(minimal);
  BOOST_TEST(s.database.dsn == "host=db");
  BOOST_TEST(s.database.prepared_statements);
  BOOST_TEST((s.database.connect_timeout == milliseconds{5000}));
  BOOST_TEST((s.log.level == log_level::info));
  BOOST_TEST((s.log.format == log_format::automatic));
  BOOST_TEST((s.environments.at("test").kind == environment_kind::test));
  const auto& route = s.routes.at("test:sim");
  BOOST_TEST(route.shards == 4);
  BOOST_TEST(route.rate_factor == 1.0);
  BOOST_TEST((route.provider == provider_kind::simulated));
  BOOST_TEST(!route.enable_live);
  BOOST_TEST((s.dispatch.interrupted_after == milliseconds{180000}));
  BOOST_TEST(s.simulator.latency.count() == 170.0);
  BOOST_TEST(s.simulator.tolerance == 1.15);
  BOOST_TEST(s.simulator.seed == 1);
  BOOST_TEST(s.recording.connections == 4);
  BOOST_TEST(s.warnings.empty());
}

BOOST_AUTO_TEST_CASE(default_settings_are_those_of_an_empty_file) {
  auto from_file = loaded(minimal);
  auto s = default_settings();
  BOOST_TEST((s.cluster.lease == from_file.cluster.lease));
  BOOST_TEST(s.simulator.rate == from_file.simulator.rate);
  BOOST_TEST(s.routes.empty());
  BOOST_TEST(default_route().shards == from_file.routes.at("test:sim").shards);
}

BOOST_AUTO_TEST_CASE(migrations_use_the_same_database_unless_told_otherwise) {
  BOOST_TEST(loaded(minimal).database.direct_dsn == "host=db");
  auto s = loaded(minimal, {}, {{"database.direct_dsn", "host=direct"}});
  BOOST_TEST(s.database.direct_dsn == "host=direct");
}

BOOST_AUTO_TEST_CASE(a_flag_beats_the_environment_which_beats_the_file) {
  auto file = minimal + "[dispatch]\nrun_ms = 1001\nbrake_ms = 1001\npoll_ms = 1001\n";
  auto s =
      loaded(file, {{"PACELINE_DISPATCH__RUN_MS", "2002"}, {"PACELINE_DISPATCH__BRAKE_MS", "2002"}},
             {{"dispatch.run_ms", "3003"}});
  BOOST_TEST((s.dispatch.run == milliseconds{3003}));
  BOOST_TEST((s.dispatch.brake == milliseconds{2002}));
  BOOST_TEST((s.dispatch.poll == milliseconds{1001}));
  BOOST_TEST((s.dispatch.quota_cache == milliseconds{60000}));
}

BOOST_AUTO_TEST_CASE(every_value_names_its_source) {
  auto s =
      loaded(minimal + "shards = 8\n", {{"PACELINE_LOG__LEVEL", "warn"}}, {{"node.name", "n1"}});
  auto source_of = [&s](std::string_view key) -> std::string {
    for (const auto& row : s.rows)
      if (row.key == key)
        return row.value + " from " + row.source;
    return "missing";
  };
  BOOST_TEST(source_of("log.level") == "warn from environment variable PACELINE_LOG__LEVEL");
  BOOST_TEST(source_of("node.name") == "n1 from --set");
  BOOST_TEST(source_of("cluster.lease_ms") == "6000 from default");
  BOOST_TEST(contains(source_of("routes.test:sim.shards"), "8 from /"));
  BOOST_TEST(source_of("routes.test:sim.shards").ends_with(":6"));
}

BOOST_AUTO_TEST_CASE(it_loads_without_a_file) {
  auto result = load_settings({std::nullopt,
                               {{"PACELINE_DATABASE__DSN", "host=db"}, {"HOME", "/root"}},
                               {{"environments.test.kind", "test"},
                                {"routes.\"test:sim\".shards", "2"},
                                {"routes.test:sim.pool", "3"}}});
  const auto& s = std::get<settings>(result);
  BOOST_TEST(s.routes.at("test:sim").shards == 2);
  BOOST_TEST(s.routes.at("test:sim").pool == 3);
}

BOOST_AUTO_TEST_CASE(the_last_of_two_flags_wins) {
  auto s = loaded(minimal, {}, {{"log.level", "warn"}, {"log.level", "error"}});
  BOOST_TEST((s.log.level == log_level::error));
}

BOOST_AUTO_TEST_CASE(words_of_choices_stand_in_the_order_of_their_enumerations) {
  auto level = [](const char* word) {
    return loaded(minimal, {}, {{"log.level", word}}).log.level;
  };
  BOOST_TEST((level("trace") == log_level::trace));
  BOOST_TEST((level("debug") == log_level::debug));
  BOOST_TEST((level("error") == log_level::error));
  BOOST_TEST((loaded(minimal, {}, {{"log.format", "human"}}).log.format == log_format::human));
  BOOST_TEST((loaded(minimal, {}, {{"log.format", "json"}}).log.format == log_format::json));
}

BOOST_AUTO_TEST_CASE(every_option_has_a_default_that_it_accepts_and_a_member) {
  for (const auto& each : all_options()) {
    BOOST_TEST_CONTEXT(each.key) {
      std::string initial{each.is_required ? each.example : each.initial};
      BOOST_TEST(std::holds_alternative<option_value>(convert(each, untyped_text{initial})));
      BOOST_TEST((each.store != nullptr));
      BOOST_TEST(each.doc.ends_with("."));
    }
  }
}

BOOST_AUTO_TEST_CASE(every_option_stores_into_a_member_of_its_own) {
  // Two rows that name the same member would leave one of the two values in the file unread.
  std::vector<option_store> stores;
  for (const auto& each : all_options())
    stores.push_back(each.store);
  for (auto each : stores)
    BOOST_TEST(std::count(stores.begin(), stores.end(), each) == 1);
}

BOOST_AUTO_TEST_CASE(connections_are_counted_over_all_routes) {
  auto s = default_settings();
  BOOST_TEST(connection_demand(s) == 12);
  s.routes["test:a"] = default_route();
  s.routes["test:b"] = default_route();
  s.routes["test:b"].shards = 1024;
  s.routes["test:b"].pool = 4;
  s.recording.connections = 8;
  BOOST_TEST(connection_demand(s) == 4 + 4096 + 8 + 4 + 4);
}

BOOST_AUTO_TEST_CASE(the_process_environment_becomes_pairs) {
  const char* block[] = {"A=1", "B=x=y", "C=", "broken", nullptr};
  auto found = environment_pairs(block);
  BOOST_TEST((found == pairs{{"A", "1"}, {"B", "x=y"}, {"C", ""}}));
}

BOOST_AUTO_TEST_CASE(a_foreign_variable_with_our_prefix_only_warns) {
  auto s = loaded(minimal, {{"PACELINE_DEMO", "1"}});
  BOOST_REQUIRE(s.warnings.size() == 1);
  BOOST_TEST(contains(s.warnings.front(), "PACELINE_DEMO"));
}

BOOST_AUTO_TEST_CASE(a_factor_beside_a_fixed_rate_warns) {
  auto s = loaded(minimal + "target_rate = 22\nrate_factor = 1.1\n");
  BOOST_REQUIRE(s.warnings.size() == 1);
  BOOST_TEST(contains(s.warnings.front(), "rate_factor"));
}

BOOST_AUTO_TEST_SUITE_END()
