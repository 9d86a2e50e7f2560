#include <boost/test/unit_test.hpp>

#include "actors/node_providers.hpp"
#include "test/support/captured_log.hpp"
#include "test/unit/config_support.hpp"

using namespace paceline;
using namespace paceline::config_test;

namespace {

settings with_route(environment_kind kind, provider_kind provider) {
  auto config = default_settings();
  config.environments["there"].kind = kind;
  config.routes["there:eu"] = default_route();
  config.routes["there:eu"].provider = provider;
  config.routes["there:eu"].endpoint = "smtp://mail.example.com:587";
  return config;
}

} // namespace

BOOST_AUTO_TEST_SUITE(node_providers)

BOOST_AUTO_TEST_CASE(a_test_environment_gets_the_simulated_provider_whatever_is_configured) {
  test::captured_log log;
  for (const auto kind : {provider_kind::ses, provider_kind::smtp, provider_kind::batch}) {
    const auto made =
        provider_of(with_route(environment_kind::test, kind), {"one", "there:eu"}, log.log);
    BOOST_TEST((made.form == mail_form::parts));
    BOOST_TEST(made.batch == 1);
    BOOST_TEST(made.uploads.octets_per_second == 0);
  }
}

BOOST_AUTO_TEST_CASE(mail_is_built_as_the_provider_wants_it) {
  test::captured_log log;
  const auto form_for = [&log](provider_kind kind) {
    return provider_of(with_route(environment_kind::live, kind), {"one", "there:eu"}, log.log).form;
  };
  BOOST_TEST((form_for(provider_kind::ses) == mail_form::raw));
  BOOST_TEST((form_for(provider_kind::smtp) == mail_form::raw));
  BOOST_TEST((form_for(provider_kind::batch) == mail_form::parts));
}

BOOST_AUTO_TEST_CASE(a_secret_file_that_cannot_be_used_is_named) {
  test::captured_log log;
  auto config = with_route(environment_kind::live, provider_kind::batch);
  const auto says = [&config, &log](const std::string& file, const char* problem) {
    config.routes["there:eu"].secret_file = file;
    try {
      provider_of(config, {"one", "there:eu"}, log.log);
    } catch (const std::runtime_error& failure) {
      return std::string{failure.what()}.find(problem) != std::string::npos;
    }
    return false;
  };
  BOOST_TEST(says("/nowhere/secret", "can't be read"));
  temporary_file empty{"\nsecond line\n"};
  BOOST_TEST(says(empty.path().string(), "empty first line"));
  temporary_file good{"re_key\r\nsecond line\n"};
  config.routes["there:eu"].secret_file = good.path().string();
  BOOST_CHECK_NO_THROW(provider_of(config, {"one", "there:eu"}, log.log));
}

BOOST_AUTO_TEST_SUITE_END()
