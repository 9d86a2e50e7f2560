#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/unit/ses_support.hpp"
#include "transport/aws/credentials_chain.hpp"
#include "transport/epoll_reactor.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// The machine's clock, which a test may put forward.
class movable_time final : public boot_time {
public:
  boot_instant now() const noexcept override { return boot_clock::now() + ahead.load(); }
  std::atomic<nanoseconds> ahead{nanoseconds{0}};
};

struct chain_stage {
  explicit chain_stage(credentials_options options) {
    options.wall = [this] {
      return std::int64_t{1772359200}
             + std::chrono::duration_cast<std::chrono::seconds>(time.ahead.load()).count();
    };
    chain.emplace(loop, std::move(options));
    chain->on_looked([this] { ++looks; });
  }

  bool run_until(const std::function<bool()>& done) {
    const auto give_up = boot_clock::now() + std::chrono::seconds{20};
    while (!done() && boot_clock::now() < give_up) {
      loop.wait(time.now() + std::chrono::milliseconds{20});
      loop.run_timers();
    }
    return done();
  }
  bool has_key(const std::string& key) {
    return chain->current() != nullptr && chain->current()->access_key == key;
  }
  void pass(nanoseconds span) { time.ahead = time.ahead.load() + span; }

  movable_time time;
  epoll_reactor loop{time};
  std::optional<credentials_chain> chain;
  int looks = 0;
};

std::string keys_json(const std::string& key, const std::string& expiration) {
  return R"({"Code":"Success","AccessKeyId":")" + key
         + R"(","SecretAccessKey":"hush","Token":"t","Expiration":")" + expiration + "\"}";
}

/// The instance metadata service, as version 2 wants it.
struct metadata_service {
  std::string body;
  http_response operator()(const http_request& asked) const {
    if (asked.method == "PUT")
      return asked.path == "/latest/api/token"
                     && asked.header("x-aws-ec2-metadata-token-ttl-seconds") == "21600"
                 ? http_response{200, "text/plain", "session", {}}
                 : http_response{400, "text/plain", "", {}};
    if (asked.header("x-aws-ec2-metadata-token") != "session")
      return {401, "text/plain", "", {}};
    if (asked.path == "/latest/meta-data/iam/security-credentials/")
      return {200, "text/plain", "mailer\n", {}};
    return {200, "text/plain", body, {}};
  }
};

credentials_options asking(const aws_stand_in& service, const char* variable,
                           const std::string& path = {}) {
  credentials_options options;
  options.environment = variables({{variable, service.url() + path}});
  return options;
}

} // namespace

BOOST_AUTO_TEST_SUITE(aws_credentials_chain)

BOOST_AUTO_TEST_CASE(the_environment_is_there_at_once) {
  credentials_options options;
  options.environment =
      variables({{"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", "hush"}});
  chain_stage stage{std::move(options)};
  BOOST_TEST(stage.has_key("AKID"));
  BOOST_TEST(stage.chain->problem() == "");
  BOOST_TEST(stage.chain->origin() == "the environment");
}

BOOST_AUTO_TEST_CASE(an_instance_shows_its_role_for_a_session_token) {
  aws_stand_in service{metadata_service{keys_json("ASIA1", "2026-03-01T16:00:00Z")}};
  chain_stage stage{asking(service, "AWS_EC2_METADATA_SERVICE_ENDPOINT")};
  BOOST_TEST(stage.chain->current() == nullptr);
  BOOST_TEST(stage.run_until([&stage] { return stage.has_key("ASIA1"); }), stage.chain->problem());
  BOOST_TEST(stage.chain->current()->session_token == "t");
  BOOST_TEST(stage.chain->origin() == "the instance's role");
  const std::vector<std::string> expected{"PUT /latest/api/token",
                                          "GET /latest/meta-data/iam/security-credentials/",
                                          "GET /latest/meta-data/iam/security-credentials/mailer"};
  BOOST_TEST(service.paths() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_container_shows_its_token_anew_for_each_request) {
  std::string file = std::filesystem::temp_directory_path() / "paceline-token-XXXXXX";
  const int descriptor = ::mkstemp(file.data());
  BOOST_REQUIRE(descriptor >= 0);
  ::close(descriptor);
  std::ofstream{file} << "first\n";
  aws_stand_in service{[](const http_request& asked) {
    const auto token = asked.header("authorization").value_or("");
    return token == "first" || token == "second"
               ? aws_answer(keys_json(std::string{token}, "2026-03-01T11:00:00Z"))
               : http_response{401, "text/plain", "", {}};
  }};
  credentials_options options;
  options.environment = variables({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", service.url() + "/creds"},
                                   {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file}});
  chain_stage stage{std::move(options)};
  BOOST_TEST(stage.run_until([&stage] { return stage.has_key("first"); }), stage.chain->problem());
  std::ofstream{file} << "second\n";
  stage.pass(std::chrono::minutes{54});
  stage.loop.run_timers();
  BOOST_TEST(service.asked().size() == 1u);
  stage.pass(std::chrono::minutes{2});
  BOOST_TEST(stage.run_until([&stage] { return stage.has_key("second"); }));
  std::filesystem::remove(file);
}

BOOST_AUTO_TEST_CASE(old_credentials_serve_until_they_expire_when_new_ones_can_not_be_had) {
  std::atomic<bool> is_up{true};
  aws_stand_in service{[&is_up](const http_request&) {
    return is_up ? aws_answer(keys_json("ASIA1", "2026-03-01T11:00:00Z"))
                 : http_response{500, "text/plain", "hush", {}};
  }};
  chain_stage stage{asking(service, "AWS_CONTAINER_CREDENTIALS_FULL_URI", "/")};
  BOOST_TEST(stage.run_until([&stage] { return stage.has_key("ASIA1"); }), stage.chain->problem());
  is_up = false;
  stage.pass(std::chrono::minutes{56});
  BOOST_TEST(stage.run_until([&stage] { return !stage.chain->problem().empty(); }));
  BOOST_TEST(stage.has_key("ASIA1"));
  BOOST_TEST(stage.chain->problem() == "the container's credentials service answered 500");
  stage.pass(std::chrono::minutes{5});
  BOOST_TEST(stage.chain->current() == nullptr);
  is_up = true; // the same again: they have run out
  BOOST_TEST(stage.run_until([&stage] { return stage.looks > 2; }));
  BOOST_TEST(stage.chain->current() == nullptr);
}

BOOST_AUTO_TEST_CASE(renewing_looks_again_at_most_once_a_second) {
  credentials_options options;
  options.environment =
      variables({{"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", "hush"}});
  chain_stage stage{std::move(options)};
  for (int i = 0; i < 100; ++i)
    stage.chain->renew();
  stage.loop.run_timers();
  BOOST_TEST(stage.looks == 0); // the first look was a moment ago
  stage.pass(std::chrono::seconds{1});
  for (int i = 0; i < 100; ++i)
    stage.loop.run_timers();
  BOOST_TEST(stage.looks == 1);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_told_and_tried_again) {
  std::atomic<bool> has_role{false};
  const metadata_service good{keys_json("ASIA1", "2026-03-01T16:00:00Z")};
  aws_stand_in service{[&has_role, &good](const http_request& asked) {
    return has_role || asked.method == "PUT" ? good(asked)
                                             : http_response{404, "text/plain", "", {}};
  }};
  chain_stage stage{asking(service, "AWS_EC2_METADATA_SERVICE_ENDPOINT")};
  BOOST_TEST(stage.run_until([&stage] { return stage.looks == 1; }));
  BOOST_TEST(stage.chain->problem() == "the instance's list of roles answered 404");
  has_role = true;
  stage.pass(std::chrono::minutes{2});
  BOOST_TEST(stage.run_until([&stage] { return stage.has_key("ASIA1"); }));
  BOOST_TEST(stage.chain->problem() == "");
}

BOOST_AUTO_TEST_CASE(a_source_that_was_chosen_is_the_only_one) {
  credentials_options options;
  options.source = credentials_source::file;
  options.file = "/nonexistent/credentials";
  options.environment =
      variables({{"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", "hush"}});
  chain_stage stage{std::move(options)};
  BOOST_TEST(stage.chain->current() == nullptr);
  BOOST_TEST(stage.chain->problem() == "there is no credentials file /nonexistent/credentials");
}

BOOST_AUTO_TEST_CASE(an_instance_that_says_no_to_metadata_is_not_asked) {
  credentials_options options;
  options.environment = variables({{"AWS_EC2_METADATA_DISABLED", "true"}});
  chain_stage stage{std::move(options)};
  BOOST_TEST(stage.chain->problem().find("AWS_EC2_METADATA_DISABLED") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
