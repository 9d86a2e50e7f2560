#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/support/captured_log.hpp"
#include "test/support/provider_stage.hpp"
#include "test/unit/ses_support.hpp"
#include "transport/aws/aws_time.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

const std::string fine = R"({"MessageId":"m-1"})";

/// A provider that asks this stand-in.
provider_stage stage_of(const ses_options& options) {
  return provider_stage{[&options](reactor& loop) { return make_ses_provider(loop, options); }};
}

/// Seconds since 1970 that X-Amz-Date tells.
std::int64_t signed_at(const http_request& asked) {
  const std::string given{asked.header("x-amz-date").value_or("")};
  BOOST_REQUIRE(given.size() == 16u);
  return read_utc_time(given.substr(0, 4) + "-" + given.substr(4, 2) + "-" + given.substr(6, 5)
                       + ":" + given.substr(11, 2) + ":" + given.substr(13))
      .value();
}

/// Refuses whoever is more than five minutes off, as AWS does.
struct strict_clock {
  std::int64_t now = 1772359200; // Sun, 01 Mar 2026 10:00:00 GMT
  http_response operator()(const http_request& asked) const {
    if (signed_at(asked) < now - 300) {
      auto refused = aws_error(403, "InvalidSignatureException", "Signature expired: it is old");
      refused.headers.emplace_back("Date", "Sun, 01 Mar 2026 10:00:00 GMT");
      return refused;
    }
    if (asked.method == "GET")
      return aws_answer(
          R"({"SendQuota":{"Max24HourSend":-1,"MaxSendRate":14,"SentLast24Hours":3}})");
    return aws_answer(fine);
  }
};

std::optional<quota_reading> quota_of(provider_stage& stage) {
  std::optional<std::optional<quota_reading>> told;
  stage.sends->ask_quota([&told](const result<quota_reading>& reading) {
    told = reading ? std::optional{*reading} : std::nullopt;
  });
  BOOST_REQUIRE(stage.run_until([&told] { return told.has_value(); }));
  return *told;
}

} // namespace

BOOST_AUTO_TEST_SUITE(ses_provider)

BOOST_AUTO_TEST_CASE(a_message_goes_out_signed_and_comes_back_with_the_id_of_ses) {
  aws_stand_in ses{[](const http_request&) { return aws_answer(fine); }};
  auto stage = stage_of(options_for(ses));
  const auto answer = stage.send(ses_message());
  BOOST_TEST((answer.kind == outcome_kind::accepted));
  BOOST_TEST(answer.provider_id == "m-1");
  BOOST_TEST(stage.calls.front().asked == 1);
  const auto asked = ses.asked();
  BOOST_REQUIRE(asked.size() == 1u);
  BOOST_TEST(asked[0].method == "POST");
  BOOST_TEST(asked[0].path == "/v2/email/outbound-emails");
  BOOST_TEST(asked[0].header("content-type").value() == "application/json");
  BOOST_TEST(std::abs(signed_at(asked[0]) - unix_seconds_now()) < 120);
  BOOST_TEST(asked[0]
                 .header("authorization")
                 .value()
                 .starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"));
  BOOST_TEST(asked[0].body.find(R"("ConfigurationSetName":"bulk")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_the_courier_forbids_is_not_written) {
  aws_stand_in ses{[](const http_request&) { return aws_answer(fine); }};
  auto stage = stage_of(options_for(ses));
  const auto& refused = stage.start(ses_message(), {}, false);
  BOOST_TEST((stage.answer_of(refused).kind == outcome_kind::not_started));
  BOOST_TEST(ses.asked().empty());
}

BOOST_AUTO_TEST_CASE(without_credentials_nothing_starts_and_the_reason_is_told) {
  aws_stand_in ses{[](const http_request&) { return aws_answer(fine); }};
  auto options = options_for(ses);
  options.credentials.source = credentials_source::environment;
  options.credentials.environment = variables({});
  auto stage = stage_of(options);
  const auto answer = stage.send(ses_message());
  BOOST_TEST((answer.kind == outcome_kind::not_started));
  BOOST_TEST((answer.reason == reason_code::provider_unreachable));
  BOOST_TEST(answer.diagnostic.find("AWS_ACCESS_KEY_ID") != std::string::npos);
  BOOST_TEST(!stage.is_healthy());
  BOOST_TEST(!quota_of(stage).has_value());
  BOOST_TEST(ses.asked().empty());
}

BOOST_AUTO_TEST_CASE(a_message_that_ses_never_takes_is_rejected_without_a_call) {
  aws_stand_in ses{[](const http_request&) { return aws_answer(fine); }};
  auto stage = stage_of(options_for(ses));
  auto large = ses_message();
  large.raw_tail = std::make_shared<const std::string>(40'000'000, 'x');
  const auto answer = stage.send(std::move(large));
  BOOST_TEST((answer.kind == outcome_kind::rejected));
  BOOST_TEST((answer.refused == refusal::this_message));
  BOOST_TEST(ses.asked().empty());
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_wrong_costs_one_refused_call) {
  aws_stand_in ses{strict_clock{}};
  auto options = options_for(ses);
  options.wall = [] { return strict_clock{}.now - 3600; };
  captured_log told;
  options.log = &told.log;
  auto stage = stage_of(options);
  const auto refused = stage.send(ses_message());
  BOOST_TEST((refused.kind == outcome_kind::throttled));
  BOOST_TEST((refused.refused == refusal::none));
  BOOST_TEST((refused.reason == reason_code::signature_refused));
  BOOST_TEST((refused.retry_after == nanoseconds{0}));
  BOOST_TEST((stage.send(ses_message()).kind == outcome_kind::accepted));
  BOOST_TEST(told.lines("3600 s").size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_wrong_is_put_right_by_the_quota_already) {
  aws_stand_in ses{strict_clock{}};
  auto options = options_for(ses);
  options.wall = [] { return strict_clock{}.now - 3600; };
  auto stage = stage_of(options);
  BOOST_TEST(!quota_of(stage).has_value());
  BOOST_TEST((stage.send(ses_message()).kind == outcome_kind::accepted));
}

BOOST_AUTO_TEST_CASE(calls_that_were_on_the_wire_together_are_one_refusal) {
  aws_stand_in ses{strict_clock{}};
  auto options = options_for(ses);
  options.wall = [] { return strict_clock{}.now - 3600; };
  auto stage = stage_of(options);
  for (int i = 0; i < 20; ++i)
    stage.start(ses_message(i + 1));
  for (const auto& one : stage.calls) {
    stage.answer_of(one);
    BOOST_TEST((one.answer.refused == refusal::none), one.answer.diagnostic);
  }
  BOOST_TEST((stage.send(ses_message(99)).kind == outcome_kind::accepted));
}

BOOST_AUTO_TEST_CASE(five_refused_signatures_in_a_row_stop_the_route) {
  aws_stand_in ses{[](const http_request&) {
    auto refused = aws_error(403, "InvalidSignatureException", "Signature not yet current: x");
    refused.headers.emplace_back("Date", "Sun, 01 Mar 2026 10:00:00 GMT");
    return refused;
  }};
  auto stage = stage_of(options_for(ses));
  for (int i = 0; i < 4; ++i)
    BOOST_TEST((stage.send(ses_message()).refused == refusal::none));
  const auto last = stage.send(ses_message());
  BOOST_TEST((last.kind == outcome_kind::throttled));
  BOOST_TEST((last.refused == refusal::sending_paused));
  BOOST_TEST(last.diagnostic.find("clock") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_acceptance_begins_the_count_anew) {
  std::atomic<int> calls{0};
  aws_stand_in ses{[&calls](const http_request&) {
    if (++calls % 4 == 0)
      return aws_answer(fine);
    auto refused = aws_error(403, "InvalidSignatureException", "Signature expired: x");
    refused.headers.emplace_back("Date", "Sun, 01 Mar 2026 10:00:00 GMT");
    return refused;
  }};
  auto stage = stage_of(options_for(ses));
  for (int i = 0; i < 12; ++i)
    BOOST_TEST((stage.send(ses_message()).refused == refusal::none));
}

BOOST_AUTO_TEST_CASE(credentials_that_ran_out_are_read_again) {
  std::string folder = std::filesystem::temp_directory_path() / "paceline-aws-XXXXXX";
  BOOST_REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const auto write = [&folder](const std::string& token) {
    std::ofstream{folder + "/credentials"} << "[default]\naws_access_key_id=AKID\n"
                                              "aws_secret_access_key=hush\naws_session_token="
                                           << token << '\n';
  };
  aws_stand_in ses{[](const http_request& asked) {
    return asked.header("x-amz-security-token") == "new"
               ? aws_answer(fine)
               : aws_error(403, "ExpiredTokenException", "The security token is expired");
  }};
  auto options = options_for(ses);
  options.credentials.source = credentials_source::file;
  options.credentials.file = folder + "/credentials";
  write("old");
  auto stage = stage_of(options);
  write("new");
  const auto refused = stage.send(ses_message());
  BOOST_TEST((refused.reason == reason_code::signature_refused));
  BOOST_TEST((stage.send(ses_message()).kind == outcome_kind::not_started));
  BOOST_TEST(stage.run_until(
      [&stage] { return stage.send(ses_message()).kind == outcome_kind::accepted; }));
  std::filesystem::remove_all(folder);
}

BOOST_AUTO_TEST_CASE(the_quota_is_read_at_most_once_a_second) {
  aws_stand_in ses{[](const http_request&) {
    return aws_answer(
        R"({"SendQuota":{"Max24HourSend":50000,"MaxSendRate":14,"SentLast24Hours":3},)"
        R"("SendingEnabled":true,"ProductionAccessEnabled":false,)"
        R"("EnforcementStatus":"PROBATION"})");
  }};
  auto options = options_for(ses);
  captured_log told;
  options.log = &told.log;
  auto stage = stage_of(options);
  int answers = 0;
  for (int i = 0; i < 5; ++i)
    stage.sends->ask_quota([&answers](const result<quota_reading>& reading) {
      ++answers;
      BOOST_REQUIRE(reading);
      BOOST_TEST(reading->max_send_rate.millihertz() == 14000);
      BOOST_TEST(reading->max_24h == 50000);
      BOOST_TEST(reading->sent_24h == 3);
    });
  BOOST_TEST(stage.run_until([&answers] { return answers == 5; }));
  BOOST_TEST(ses.paths() == std::vector<std::string>{"GET /v2/email/account"},
             boost::test_tools::per_element());
  BOOST_TEST(told.lines("PROBATION").size() == 1u);
  BOOST_TEST(told.lines("sandbox").size() == 1u);
}

BOOST_AUTO_TEST_CASE(health_is_asked_for_without_sending_anything) {
  std::atomic<int> status{400};
  aws_stand_in ses{[&status](const http_request&) {
    return aws_error(status, "BadRequestException", "Missing required field");
  }};
  auto stage = stage_of(options_for(ses));
  BOOST_TEST(stage.is_healthy());
  status = 503;
  BOOST_TEST(!stage.is_healthy());
  status = 500;
  BOOST_TEST(!stage.is_healthy());
  const auto asked = ses.asked();
  BOOST_TEST(asked.at(0).path == "/v2/email/outbound-emails");
  BOOST_TEST(asked.at(0).body == "{}");
}

BOOST_AUTO_TEST_CASE(neither_answers_nor_logs_hold_a_secret) {
  aws_stand_in ses{[](const http_request& asked) {
    return aws_error(403, "SignatureDoesNotMatch",
                     "No match.\\n\\nThe Canonical String was '"
                         + std::string{asked.header("x-amz-security-token").value_or("")} + "'");
  }};
  auto options = options_for(ses);
  options.credentials.environment = variables({{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"},
                                               {"AWS_SECRET_ACCESS_KEY", "hush-secret"},
                                               {"AWS_SESSION_TOKEN", "hush-token"}});
  captured_log told;
  options.log = &told.log;
  auto stage = stage_of(options);
  const auto answer = stage.send(ses_message());
  quota_of(stage);
  BOOST_TEST((answer.refused == refusal::sending_paused));
  BOOST_TEST(answer.diagnostic.find("hush") == std::string::npos, answer.diagnostic);
  BOOST_TEST(!told.lines("").empty());
  BOOST_TEST(told.lines("hush").empty());
}

BOOST_AUTO_TEST_CASE(a_routes_settings_become_options) {
  auto route = default_route();
  const auto plain = ses_options_of("live:eu-central-1", route, std::chrono::seconds{20});
  BOOST_TEST(plain.region == "eu-central-1");
  BOOST_TEST(plain.endpoint == "");
  BOOST_TEST((plain.connections.total_timeout == std::chrono::seconds{20}));
  BOOST_TEST(plain.connections.max_connections == 2000);
  route.aws_region = "us-west-2";
  route.max_connections = 5;
  const auto other = ses_options_of("live:bulk", route, std::chrono::seconds{20});
  BOOST_TEST(other.region == "us-west-2");
  BOOST_TEST(other.connections.max_connections == 5);
}

BOOST_AUTO_TEST_SUITE_END()
