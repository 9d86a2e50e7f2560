#include "test/unit/config_support.hpp"

#include <chrono>

#include "config/checks.hpp"
#include "config/options.hpp"
#include "config/values.hpp"

using namespace paceline;
using namespace paceline::config_test;

namespace {

bool accepts(const std::string& key, const std::string& value, pairs others = {}) {
  others.emplace_back(key, value);
  return errors_of(minimal, {}, others).empty();
}

bool any_names(const std::vector<config_error>& errors, std::string_view key) {
  return std::any_of(errors.begin(), errors.end(),
                     [key](const config_error& each) { return each.key == key; });
}

} // namespace

BOOST_AUTO_TEST_SUITE(config_errors)

BOOST_AUTO_TEST_CASE(bounds_belong_to_the_range_and_their_neighbours_do_not) {
  for (const auto& each : all_options()) {
    if (each.type != option_type::integer && each.type != option_type::duration_ms)
      continue;
    auto low = static_cast<std::int64_t>(each.minimum);
    auto high = static_cast<std::int64_t>(each.maximum);
    auto taken = [&each](std::int64_t value) {
      return std::holds_alternative<option_value>(
                 convert(each, untyped_text{std::to_string(value)}))
             && std::holds_alternative<option_value>(convert(each, value));
    };
    BOOST_TEST_CONTEXT(each.key) {
      BOOST_TEST(taken(low));
      BOOST_TEST(taken(high));
      BOOST_TEST(!taken(low - 1));
      BOOST_TEST(!taken(high + 1));
    }
  }
}

BOOST_AUTO_TEST_CASE(limits_hold_through_the_whole_loading) {
  BOOST_TEST(accepts("routes.test:sim.shards", "1"));
  BOOST_TEST(accepts("routes.test:sim.shards", "1024"));
  BOOST_TEST(!accepts("routes.test:sim.shards", "0"));
  BOOST_TEST(!accepts("routes.test:sim.shards", "1025"));
  BOOST_TEST(accepts("routes.test:sim.rate_factor", "0.01"));
  BOOST_TEST(accepts("routes.test:sim.rate_factor", "2"));
  BOOST_TEST(!accepts("routes.test:sim.rate_factor", "0.0099"));
  BOOST_TEST(!accepts("routes.test:sim.rate_factor", "2.0000001"));
  BOOST_TEST(accepts("routes.test:sim.target_rate", "0"));
  BOOST_TEST(accepts("routes.test:sim.target_rate", "0.02"));
  BOOST_TEST(!accepts("routes.test:sim.target_rate", "0.019"));
}

BOOST_AUTO_TEST_CASE(extreme_numbers_are_refused_with_their_value_and_range) {
  for (const char* value : {"0", "-1", "2147483648", "9223372036854775808", "1e308", "nan", "inf",
                            "-nan", "1e999", "0x10", "1_000", "+5", " 5", "5 ", "", "4.0"}) {
    auto error = refusal_of("routes.test:sim.shards", value);
    BOOST_TEST(error.key == "routes.test:sim.shards");
    BOOST_TEST(error.value == value);
    BOOST_TEST(error.allowed == "integer from 1 to 1024");
    BOOST_TEST(error.source == "--set");
    BOOST_TEST(!error.advice.empty());
  }
  for (const char* value : {"0", "-1", "2147483648", "9223372036854775808", "1e308", "nan", "inf",
                            "-inf", "1e999", "1,5", ""})
    BOOST_TEST(refusal_of("simulator.rate", value).allowed == "number from 0.02 to 10000000");
}

BOOST_AUTO_TEST_CASE(extreme_numbers_in_the_file_are_refused_too) {
  for (const char* value : {"0", "-1", "2147483648", "1e308", "nan", "inf", "-inf"}) {
    auto errors = errors_of(minimal + "[simulator]\nrate = " + value + "\n");
    BOOST_TEST(errors.size() == 1);
    BOOST_TEST(any_names(errors, "simulator.rate"));
  }
  auto errors = errors_of(minimal + "shards = 9223372036854775808\n");
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(errors.front().source.ends_with(":6"));
}

BOOST_AUTO_TEST_CASE(the_wrong_type_is_refused) {
  for (const char* line :
       {"shards = \"4\"", "shards = 4.0", "shards = true", "shards = [4]", "shards = 2024-01-01",
        "shards = 10:00:00", "shards = {}", "provider = 1", "provider = \"ses\"",
        "rate_factor = \"1\"", "enable_live = 1", "enable_live = \"true\"", "shards = []"})
    BOOST_TEST(errors_of(minimal + line + "\n").size() == 1, line);
  for (const char* value : {"1", "yes", "TRUE", ""})
    BOOST_TEST(contains(refusal_of("routes.test:sim.enable_live", value).allowed, "true or false"));
  BOOST_TEST(errors_of(minimal + "rate_factor = 1\n").empty());
}

BOOST_AUTO_TEST_CASE(all_errors_come_at_once_from_all_sources) {
  auto errors = errors_of("[database]\nconnect_timeout_ms = 1\n[cluster]\nlease_ms = \"x\"\n"
                          "[environments.test]\n[routes.\"prod:a\"]\nshards = 0\nshrads = 3\n",
                          {{"PACELINE_LOG__LEVEL", "loud"}}, {{"dispatch.max_group", "101"}});
  for (const char* key : {"database.connect_timeout_ms", "cluster.lease_ms", "database.dsn",
                          "environments.test.kind", "routes.prod:a", "routes.prod:a.shards",
                          "routes.prod:a.shrads", "log.level", "dispatch.max_group"})
    BOOST_TEST(any_names(errors, key), key);
  BOOST_TEST(errors.size() == 9);
}

BOOST_AUTO_TEST_CASE(an_unknown_key_names_the_nearest) {
  auto advice = [](const std::string& key) { return refusal_of(key, "1").advice; };
  BOOST_TEST(contains(advice("dispatch.brake"), "did you mean dispatch.brake_ms?"));
  BOOST_TEST(contains(advice("routes.test:sim.shard"), "did you mean routes.test:sim.shards?"));
  BOOST_TEST(contains(advice("databse.dsn"), "did you mean database.dsn?"));
  BOOST_TEST(contains(advice("database.dsn.x"), "did you mean database.dsn?"));
  BOOST_TEST(contains(advice("zzzzzzzz.qqqqqqq"), "docs/configuration.md"));
  auto errors = errors_of(minimal, {{"PACELINE_DATABASE_DSN", "x"}});
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(contains(errors.front().text(), "did you mean PACELINE_DATABASE__DSN?"));
}

BOOST_AUTO_TEST_CASE(the_value_of_an_unknown_key_is_not_shown) {
  auto errors = errors_of(minimal + "[databse]\ndsn = \"postgresql://u:hunter2@h\"\n");
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(!contains(errors.front().text(), "hunter2"));
}

BOOST_AUTO_TEST_CASE(a_section_is_not_a_value) {
  for (const char* text : {"database = 5\n", "routes = []\n", "[[routes]]\nshards = 1\n",
                           "[routes]\nshards = 1\n", "[nonsense]\n", "environments = \"x\"\n"})
    BOOST_TEST(!errors_of(text, {{"PACELINE_DATABASE__DSN", "h=1"}}).empty(), text);
  BOOST_TEST(errors_of(minimal + "[dispatch]\n[node]\n").empty());
}

BOOST_AUTO_TEST_CASE(routes_are_not_set_by_the_environment) {
  auto errors = errors_of(minimal, {{"PACELINE_ROUTES__TEST_SIM__SHARDS", "8"}});
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(contains(errors.front().text(), "--set"));
}

BOOST_AUTO_TEST_CASE(a_malformed_flag_is_refused) {
  for (const char* key : {"", ".", "a.", ".a", "a..b", "routes.\"x", "routes.\"x\"y.shards"})
    BOOST_TEST(errors_of(minimal, {}, {{key, "1"}}).size() == 1, key);
}

BOOST_AUTO_TEST_CASE(a_text_may_not_hold_nul_or_broken_octets) {
  BOOST_TEST(contains(refusal_of("node.name", "a\xff").advice, "UTF-8"));
  BOOST_TEST(contains(refusal_of("node.name", std::string{"a\0b", 3}).advice, "NUL"));
  BOOST_TEST(errors_of(minimal + "[node]\nname = \"a\\u0000b\"\n").size() == 1);
  BOOST_TEST(accepts("node.name", std::string(200, 'x')));
  BOOST_TEST(!accepts("node.name", std::string(201, 'x')));
  BOOST_TEST(contains(refusal_of("database.dsn", "").advice, "length"));
}

BOOST_AUTO_TEST_CASE(an_interrupted_claim_must_be_older_than_its_call) {
  pairs call = {{"dispatch.call_timeout_ms", "5000"}};
  BOOST_TEST(accepts("dispatch.interrupted_after_ms", "6001", call));
  BOOST_TEST(!accepts("dispatch.interrupted_after_ms", "6000", call));
  BOOST_TEST(!accepts("dispatch.interrupted_after_ms", "1000", call));
}

BOOST_AUTO_TEST_CASE(a_lease_leaves_room_for_its_margin_and_two_renewals) {
  pairs lease = {{"cluster.lease_ms", "6000"}, {"cluster.renew_ms", "100"}};
  BOOST_TEST(accepts("cluster.margin_ms", "2999", lease));
  BOOST_TEST(!accepts("cluster.margin_ms", "3000", lease));
  pairs margin = {{"cluster.lease_ms", "6000"}, {"cluster.margin_ms", "1000"}};
  BOOST_TEST(accepts("cluster.renew_ms", "2499", margin));
  BOOST_TEST(!accepts("cluster.renew_ms", "2500", margin));
}

BOOST_AUTO_TEST_CASE(the_largest_is_not_below_the_least) {
  BOOST_TEST(accepts("expansion.buffer_max", "400"));
  BOOST_TEST(!accepts("expansion.buffer_max", "399"));
  BOOST_TEST(accepts("dispatch.throttle_backoff_max_ms", "2000"));
  BOOST_TEST(!accepts("dispatch.throttle_backoff_max_ms", "1999"));
}

BOOST_AUTO_TEST_CASE(a_wrong_value_causes_no_second_error) {
  BOOST_TEST(refusal_of("dispatch.call_timeout_ms", "999999").key == "dispatch.call_timeout_ms");
  BOOST_TEST(refusal_of("cluster.lease_ms", "1").key == "cluster.lease_ms");
}

BOOST_AUTO_TEST_CASE(names_of_environments_and_routes_are_checked) {
  auto with_route = [](const std::string& name) {
    return errors_of(minimal + "[routes.\"" + name + "\"]\n");
  };
  auto longest = std::string(63, 'a');
  BOOST_TEST(with_route("test:" + longest).empty());
  for (const auto& name :
       {"test:" + longest + "a", std::string{"test:"}, std::string{"test"}, std::string{":sim"},
        std::string{"test:Sim"}, std::string{"test:-a"}, std::string{"test:a:b"},
        std::string{"test:a.b"}, std::string{"other:sim"}, std::string{"test:a\\u0000"}})
    BOOST_TEST(with_route(name).size() == 1, name);
  BOOST_TEST(errors_of(minimal + "[environments.Prod]\nkind = \"test\"\n").size() == 1);
}

BOOST_AUTO_TEST_CASE(a_live_route_needs_a_real_provider_and_a_second_look) {
  auto errors = errors_of("database.dsn = \"x=1\"\nenvironments.live.kind = \"live\"\n"
                          "[routes.\"live:eu\"]\n");
  BOOST_TEST(errors.size() == 3);
  BOOST_TEST(any_names(errors, "unsubscribe.base_url"));
  BOOST_TEST(any_names(errors, "routes.live:eu.enable_live"));
  BOOST_TEST(any_names(errors, "routes.live:eu.provider"));
}

BOOST_AUTO_TEST_CASE(a_test_environment_must_not_call_a_real_provider) {
  auto s = loaded(minimal);
  BOOST_TEST(check_settings(s).empty());
  s.routes["test:sim"].provider = provider_kind::ses;
  auto errors = check_settings(s);
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(errors.front().key == "routes.test:sim.provider");
}

BOOST_AUTO_TEST_CASE(a_region_belongs_to_one_live_environment) {
  auto s = default_settings();
  s.environments["a"].kind = s.environments["b"].kind = environment_kind::live;
  s.environments["t"].kind = environment_kind::test;
  auto route = default_route();
  s.routes["t:eu"] = route;
  route.enable_live = true;
  route.provider = provider_kind::ses;
  s.unsubscribe = {"https://mail.example.com", {std::string(32, 'k')}};
  s.routes["a:eu"] = route;
  s.routes["b:us"] = route;
  BOOST_TEST(check_settings(s).empty());
  s.routes["b:eu"] = route;
  auto errors = check_settings(s);
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(contains(errors.front().text(), "a:eu"));
}

BOOST_AUTO_TEST_CASE(an_error_is_one_line_without_control_characters) {
  auto error = refusal_of("log.level", "a\nb\x1b[31m");
  BOOST_TEST(error.text()
             == "--set: log.level = a\\nb\\x1b[31m: give one of trace, debug, info, warn, error");
}

BOOST_AUTO_TEST_CASE(a_list_is_an_array_or_divided_by_commas) {
  option list{.key = "a.list",
              .type = option_type::list_of_text,
              .unit = {},
              .initial = {},
              .minimum = 1,
              .maximum = 3,
              .choices = {},
              .doc = {},
              .initial_note = {},
              .example = {}};
  using texts = std::vector<std::string>;
  auto items = [&list](const raw_value& value) {
    auto converted = convert(list, value);
    auto taken = std::get_if<option_value>(&converted);
    return taken ? std::get<texts>(*taken) : texts{"refused"};
  };
  BOOST_TEST((items(untyped_text{"a,bcd"}) == texts{"a", "bcd"}));
  BOOST_TEST((items(untyped_text{""}) == texts{}));
  BOOST_TEST((items(texts{"x", "y"}) == texts{"x", "y"}));
  BOOST_TEST((items(untyped_text{"a,bcde"}) == texts{"refused"}));
  BOOST_TEST((items(untyped_text{"a,,b"}) == texts{"refused"}));
  BOOST_TEST((items(std::int64_t{4}) == texts{"refused"}));
}

BOOST_AUTO_TEST_SUITE_END()
