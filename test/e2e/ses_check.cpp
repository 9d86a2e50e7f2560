/// `paceline ses check` as somebody calls it.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "test/support/installation.hpp"
#include "test/support/simulator.hpp"

using namespace paceline::test;

namespace {

std::vector<std::string> live_route(const simulator& ses) {
  ::setenv("AWS_ACCESS_KEY_ID", simulator::access_key().c_str(), 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", simulator::secret_key().c_str(), 1);
  const std::string route = "routes.\"live:eu-west-1\".";
  return {"environments.live.kind=live",
          "unsubscribe.base_url=https://mail.example.com",
          "unsubscribe.keys=0123456789abcdef0123456789abcdef",
          route + "provider=ses",
          route + "enable_live=true",
          route + "allow_private=true",
          route + "endpoint=" + ses.endpoint(),
          route + "ca_file=" + ses.ca_file(),
          route + "credentials=environment",
          route + "connect_timeout_ms=900",
          route + "configuration_set=bulk"};
}

} // namespace

BOOST_AUTO_TEST_SUITE(ses_check)

BOOST_AUTO_TEST_CASE(the_check_looks_at_the_domains_of_projects_and_ends_with_what_it_found) {
  simulator ses{"ses", {"--region", "eu-west-1"}};
  installation home{live_route(ses)};
  auto end = home.run({"ses", "check"});
  BOOST_TEST(end.status == 1);
  BOOST_TEST(end.output.find("--identity") != std::string::npos, end.output);

  home.must_run({"projects", "set", "default", "--sender-domain", "example.org"});
  end = home.run({"ses", "check"});
  BOOST_TEST(end.status == 0, end.output << end.errors);
  BOOST_TEST(end.output.find("ok     identity example.org: ") != std::string::npos, end.output);
  BOOST_TEST(end.output.find("wrong") == std::string::npos, end.output);

  ses.control(R"({"subscription":"pending"})");
  end = home.run({"ses", "check", "--route", "live:eu-west-1", "--json"});
  BOOST_TEST(end.status == 1);
  BOOST_TEST(end.output.find(R"({"check":"subscription","ok":false,)") != std::string::npos,
             end.output);
  BOOST_TEST(end.output.starts_with(R"({"ok":false,)"), end.output);

  end = home.run({"ses", "check", "--route", "test:sim"});
  BOOST_TEST(end.status == 2);
  BOOST_TEST(end.errors.find("live:eu-west-1") != std::string::npos, end.errors);
}

BOOST_AUTO_TEST_CASE(the_check_says_what_to_do_about_keys_set_up_and_an_account_that_is_paused) {
  simulator ses{"ses", {"--region", "eu-west-1"}};
  installation home{live_route(ses), false};
  const std::vector<std::string> check{"ses", "check", "--identity", "example.org"};
  BOOST_TEST(home.run(check).status == 0);
  const auto finds = [&home, &check](const std::string& line, const std::string& advice) {
    const auto end = home.run(check);
    BOOST_TEST(end.status == 1);
    BOOST_TEST(end.output.find("wrong  " + line) != std::string::npos, end.output);
    BOOST_TEST(end.output.find(advice) != std::string::npos, end.output);
    BOOST_TEST(end.output.find('\033') == std::string::npos, end.output);
    BOOST_TEST((end.output + end.errors).find(simulator::secret_key()) == std::string::npos);
  };
  ses.control(R"({"configuration_set":"missing"})");
  finds("configuration set bulk: ", "create it");
  ses.control(R"({"configuration_set":"paused"})");
  finds("configuration set bulk: ", "enable it");
  ses.control(R"({"configuration_set":"present","enforcement":"SHUTDOWN"})");
  finds("account: ", "sending is disabled");
  ses.control(R"({"enforcement":"HEALTHY"})");
  ::setenv("AWS_SECRET_ACCESS_KEY", "another", 1);
  finds("account: ", "signature");
}

BOOST_AUTO_TEST_SUITE_END()
