#include <boost/test/unit_test.hpp>

#include "tools/paceline/live_changes.hpp"

using namespace paceline;

namespace {

settings configured(std::vector<std::pair<std::string, std::string>> more = {}) {
  settings_sources from;
  from.overrides = {{"database.dsn", "postgresql://paceline:one@127.0.0.1/paceline"},
                    {"environments.test.kind", "test"},
                    {"routes.test:sim.provider", "simulated"}};
  from.overrides.insert(from.overrides.end(), more.begin(), more.end());
  auto read = load_settings(from);
  BOOST_REQUIRE(std::holds_alternative<settings>(read));
  return std::get<settings>(read);
}

} // namespace

BOOST_AUTO_TEST_SUITE(cli_live_changes)

BOOST_AUTO_TEST_CASE(the_same_configuration_changes_nothing) {
  const auto changes = find_live_changes(configured(), configured());
  BOOST_TEST(changes.live.empty());
  BOOST_TEST(changes.for_restart.empty());
}

BOOST_AUTO_TEST_CASE(live_options_are_told_from_those_that_need_a_restart) {
  const auto changes =
      find_live_changes(configured(), configured({{"log.level", "debug"},
                                                  {"routes.test:sim.rate_factor", "0.5"},
                                                  {"routes.test:sim.shards", "8"},
                                                  {"dispatch.max_group", "50"}}));
  BOOST_REQUIRE(changes.live.size() == 2u);
  BOOST_TEST(changes.live[0].key == "log.level");
  BOOST_TEST(changes.live[0].before == "info");
  BOOST_TEST(changes.live[0].after == "debug");
  BOOST_TEST(changes.live[1].key.ends_with("rate_factor"));
  BOOST_REQUIRE(changes.for_restart.size() == 2u);
  BOOST_TEST(changes.for_restart[0] == "dispatch.max_group");
  BOOST_TEST(changes.for_restart[1].ends_with("shards"));
}

BOOST_AUTO_TEST_CASE(a_changed_password_is_named_and_not_shown) {
  const auto changes = find_live_changes(
      configured(), configured({{"database.dsn", "postgresql://paceline:two@127.0.0.1/paceline"}}));
  BOOST_TEST(changes.live.empty());
  BOOST_REQUIRE(!changes.for_restart.empty());
  BOOST_TEST(changes.for_restart.back().starts_with("database."));
}

BOOST_AUTO_TEST_CASE(a_route_that_comes_needs_a_restart_also_for_its_rate) {
  const auto changes =
      find_live_changes(configured(), configured({{"routes.test:other.provider", "simulated"},
                                                  {"routes.test:other.rate_factor", "0.5"}}));
  BOOST_TEST(changes.live.empty());
  BOOST_TEST(changes.for_restart.size() >= 2u);
}

BOOST_AUTO_TEST_CASE(only_live_values_are_taken_so_that_the_others_are_named_again) {
  auto in_effect = configured();
  const auto read = configured({{"log.level", "debug"}, {"dispatch.max_group", "50"}});
  const auto group = in_effect.dispatch.max_group;
  take_live_values(in_effect, read);
  BOOST_TEST((in_effect.log.level == log_level::debug));
  BOOST_TEST(in_effect.dispatch.max_group == group);
  const auto again = find_live_changes(in_effect, read);
  BOOST_TEST(again.live.empty());
  BOOST_REQUIRE(again.for_restart.size() == 1u);
  BOOST_TEST(again.for_restart[0] == "dispatch.max_group");
}

BOOST_AUTO_TEST_SUITE_END()
