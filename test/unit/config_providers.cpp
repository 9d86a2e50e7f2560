// What routes with real providers, and unsubscribe links, need.
#include <boost/test/unit_test.hpp>

#include "config/checks.hpp"
#include "config/endpoint.hpp"
#include "config/provider_checks.hpp"
#include "test/unit/config_support.hpp"

using namespace paceline;
using namespace paceline::config_test;

namespace {

route_settings live_route(provider_kind kind) {
  auto route = default_route();
  route.enable_live = true;
  route.provider = kind;
  return route;
}

std::vector<std::string> faulty(const route_settings& route) {
  std::vector<std::string> options;
  for (const auto& fault : provider_faults(route, std::chrono::seconds{30}))
    options.push_back(fault.option);
  return options;
}

using texts = std::vector<std::string>;

} // namespace

BOOST_AUTO_TEST_SUITE(config_providers)

BOOST_AUTO_TEST_CASE(an_endpoint_is_scheme_host_and_port_and_nothing_else) {
  const auto ses = parse_endpoint("https://email.eu-central-1.amazonaws.com/");
  BOOST_REQUIRE(ses);
  BOOST_TEST(ses->host == "email.eu-central-1.amazonaws.com");
  BOOST_TEST(ses->port == 0);
  const auto local = parse_endpoint("SMTP://[::1]:2525");
  BOOST_REQUIRE(local);
  BOOST_TEST(local->scheme == "smtp");
  BOOST_TEST(local->host == "::1");
  BOOST_TEST(local->port == 2525);
  BOOST_TEST(local->is_loopback());
  for (const char* wrong :
       {"", "https://", "example.com", "https://a/b", "https://user@a", "https://a:0",
        "https://a:65536", "https://a:x", "https://a?b", "https://[::1", "https://a b", "://a",
        "https://a\r\nb", "https://[zz]:1"})
    BOOST_TEST(!parse_endpoint(wrong), wrong);
}

BOOST_AUTO_TEST_CASE(only_loopback_addresses_and_localhost_are_this_machine) {
  for (const char* here : {"https://127.0.0.1", "https://127.9.9.9", "https://localhost:1"})
    BOOST_TEST(parse_endpoint(here)->is_loopback(), here);
  for (const char* there : {"https://10.0.0.1", "https://example.com", "https://[2001:db8::1]"})
    BOOST_TEST(!parse_endpoint(there)->is_loopback(), there);
}

BOOST_AUTO_TEST_CASE(ses_needs_nothing_more_and_never_speaks_plain_http) {
  auto route = live_route(provider_kind::ses);
  BOOST_TEST(faulty(route).empty());
  route.endpoint = "http://email.eu-central-1.amazonaws.com";
  BOOST_TEST(faulty(route) == texts{"endpoint"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_endpoint_on_this_machine_must_be_allowed) {
  auto route = live_route(provider_kind::ses);
  route.endpoint = "https://127.0.0.1:8443";
  BOOST_TEST(faulty(route) == texts{"endpoint"}, boost::test_tools::per_element());
  route.allow_private = true;
  BOOST_TEST(faulty(route).empty());
}

BOOST_AUTO_TEST_CASE(smtp_needs_an_endpoint_a_rate_and_name_with_password) {
  auto route = live_route(provider_kind::smtp);
  BOOST_TEST(faulty(route) == (texts{"endpoint", "target_rate"}), boost::test_tools::per_element());
  route.endpoint = "smtp://mail.example.com:587";
  route.target_rate = 5;
  BOOST_TEST(faulty(route).empty());
  route.username = "paceline";
  BOOST_TEST(faulty(route) == texts{"secret_file"}, boost::test_tools::per_element());
  route.secret_file = "/etc/paceline/smtp";
  BOOST_TEST(faulty(route).empty());
  route.secret = "also";
  BOOST_TEST(faulty(route) == texts{"secret"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(smtp_without_encryption_stays_on_this_machine) {
  auto route = live_route(provider_kind::smtp);
  route.target_rate = 5;
  route.security = smtp_security::none;
  route.endpoint = "smtp://mail.example.com:25";
  BOOST_TEST(faulty(route) == texts{"security"}, boost::test_tools::per_element());
  route.endpoint = "smtp://127.0.0.1:25";
  route.allow_private = true;
  BOOST_TEST(faulty(route).empty());
  route.security = smtp_security::tls;
  BOOST_TEST(faulty(route) == texts{"endpoint"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_provider_needs_its_key) {
  auto route = live_route(provider_kind::batch);
  BOOST_TEST(faulty(route) == texts{"secret_file"}, boost::test_tools::per_element());
  route.secret = "re_123";
  BOOST_TEST(faulty(route).empty());
}

BOOST_AUTO_TEST_CASE(connecting_may_not_take_as_long_as_a_whole_call) {
  auto route = live_route(provider_kind::ses);
  route.connect_timeout = std::chrono::seconds{30};
  BOOST_TEST(faulty(route) == texts{"connect_timeout_ms"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_live_route_needs_unsubscribe_links_and_keys_are_long) {
  const auto names = [](const unsubscribe_settings& given, bool needed) {
    texts options;
    for (const auto& fault : unsubscribe_faults(given, needed))
      options.push_back(fault.option);
    return options;
  };
  const std::string key(32, 'k');
  BOOST_TEST(names({}, false).empty());
  BOOST_TEST(names({}, true) == texts{"base_url"}, boost::test_tools::per_element());
  BOOST_TEST(names({"https://m.example.com", {key}}, true).empty());
  BOOST_TEST(names({"http://m.example.com", {key}}, false) == texts{"base_url"},
             boost::test_tools::per_element());
  BOOST_TEST(names({"http://127.0.0.1:8700", {key}}, false).empty());
  BOOST_TEST(names({"https://m.example.com", {}}, true) == texts{"keys"},
             boost::test_tools::per_element());
  BOOST_TEST(names({"https://m.example.com", {key, "short"}}, true) == texts{"keys"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(options_without_a_meaning_for_the_provider_are_doubted) {
  auto route = live_route(provider_kind::smtp);
  route.configuration_set = "bulk";
  BOOST_TEST(idle_options(route) == texts{"configuration_set"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(secrets_are_shown_to_nobody) {
  settings_sources from;
  from.overrides = {{"database.dsn", "x=1"},
                    {"environments.live.kind", "live"},
                    {"routes.live:eu.provider", "batch"},
                    {"routes.live:eu.secret", "re_topsecret"},
                    {"unsubscribe.base_url", "https://m.example.com"},
                    {"unsubscribe.keys", std::string(40, 'z') + ",shortsecret"}};
  const auto loaded = load_settings(from);
  const auto* errors = std::get_if<std::vector<config_error>>(&loaded);
  BOOST_REQUIRE(errors);
  for (const auto& error : *errors) {
    BOOST_TEST(error.text().find("secret\"") == std::string::npos, error.text());
    BOOST_TEST(error.text().find("shortsecret") == std::string::npos, error.text());
    BOOST_TEST(error.text().find("topsecret") == std::string::npos, error.text());
  }
}

BOOST_AUTO_TEST_SUITE_END()
