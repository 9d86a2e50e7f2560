#include <boost/test/unit_test.hpp>

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <rapidjson/document.h>

#include "transport/aws/ses_answers.hpp"

using namespace paceline;

namespace {

rapidjson::Document cases() {
  std::ifstream in{PACELINE_SOURCE_DIR "/test/vectors/ses-errors/cases.json"};
  std::stringstream text;
  text << in.rdbuf();
  rapidjson::Document read;
  BOOST_REQUIRE(!read.Parse(text.str().c_str()).HasParseError());
  return read;
}

std::string name(ses_class what) {
  static constexpr std::array names{"accepted",     "throttle",      "quota",
                                    "account_stop", "campaign_stop", "message_failed",
                                    "retry",        "unknown",       "resign"};
  return names.at(static_cast<std::size_t>(what));
}

outgoing_message newsletter() {
  outgoing_message message;
  message.sender = "News <news@example.org>";
  message.recipients = {"reader@example.com", "other@example.com"};
  return message;
}

http_result answer(int status, std::string body, std::string code = {}) {
  http_result came;
  came.end = transfer_end::answered;
  came.status = status;
  came.body = std::move(body);
  if (!code.empty())
    came.headers.emplace_back("x-amzn-ErrorType", std::move(code));
  return came;
}

http_result answer_of(const rapidjson::Value& one) {
  auto came = answer(one["status"].GetInt(), one["body"].GetString());
  for (const auto& header : one["headers"].GetObject())
    came.headers.emplace_back(header.name.GetString(), header.value.GetString());
  return came;
}

http_result ending(transfer_end how, bool bad_certificate = false) {
  http_result came;
  came.end = how;
  came.diagnostic = "what curl said";
  came.bad_certificate = bad_certificate;
  return came;
}

/// What each class becomes, but for what is said of single cases below.
struct expected_answer {
  outcome_kind kind;
  refusal refused;
  reason_code reason;
};
const std::map<std::string, expected_answer> expected{
    {"accepted", {outcome_kind::accepted, refusal::none, reason_code::none}},
    {"throttle", {outcome_kind::throttled, refusal::rate, reason_code::provider_throttled}},
    {"quota", {outcome_kind::throttled, refusal::daily_quota, reason_code::provider_daily_quota}},
    {"account_stop",
     {outcome_kind::throttled, refusal::sending_paused, reason_code::provider_sending_paused}},
    {"campaign_stop", {outcome_kind::throttled, refusal::stream, reason_code::stream_refused}},
    {"message_failed",
     {outcome_kind::rejected, refusal::this_message, reason_code::provider_rejected}},
    {"retry", {outcome_kind::throttled, refusal::none, reason_code::provider_unavailable}},
    {"unknown", {outcome_kind::unknown, refusal::none, reason_code::provider_server_error}},
    {"resign", {outcome_kind::throttled, refusal::none, reason_code::signature_refused}},
};
/// Faults of the route's set-up stop the route: see decision 16.
const std::map<std::string, std::string> answered_as{{"configset-not-found", "account_stop"},
                                                     {"configset-paused", "account_stop"}};

} // namespace

BOOST_AUTO_TEST_SUITE(ses_answers)

BOOST_AUTO_TEST_CASE(every_answer_of_the_vectors_has_its_class_and_its_outcome) {
  const auto read = cases();
  for (const auto& one : read["cases"].GetArray()) {
    const std::string which = one["name"].GetString(), wanted = one["class"].GetString();
    const auto verdict = judge_send(answer_of(one), newsletter());
    const auto special = answered_as.find(which);
    const auto& becomes = expected.at(special == answered_as.end() ? wanted : special->second);
    BOOST_TEST_CONTEXT(which) {
      BOOST_TEST(name(verdict.what) == wanted);
      BOOST_TEST((verdict.answer.kind == becomes.kind));
      BOOST_TEST((verdict.answer.refused == becomes.refused));
      BOOST_TEST((verdict.answer.reason == becomes.reason));
      BOOST_TEST(verdict.answer.provider_id.empty() == (wanted != "accepted"));
      BOOST_TEST(verdict.answer.diagnostic.empty() == (wanted == "accepted"));
      if (one["code"].IsString())
        BOOST_TEST(ses_error_code(answer_of(one)) == one["code"].GetString());
      if (one.HasMember("min_delay_s"))
        BOOST_TEST((verdict.answer.retry_after.value()
                    == std::chrono::seconds{one["min_delay_s"].GetInt()}));
    }
  }
  BOOST_TEST(read["cases"].Size() == 46u);
}

BOOST_AUTO_TEST_CASE(every_end_without_an_answer_has_its_class) {
  const std::map<std::string, http_result> ends{
      {"dns-failure", ending(transfer_end::not_written)},
      {"connect-refused", ending(transfer_end::not_written)},
      {"connect-timeout", ending(transfer_end::not_written)},
      {"tls-certificate-invalid", ending(transfer_end::not_written, true)},
      {"reset-before-request-sent", ending(transfer_end::not_written)},
      {"reset-after-request-sent", ending(transfer_end::lost)},
      {"timeout-waiting-for-response", ending(transfer_end::timed_out)},
      {"stale-keepalive-closed-before-first-byte-sent", ending(transfer_end::not_written)},
      {"stale-keepalive-closed-after-request-sent", ending(transfer_end::lost)},
  };
  const auto read = cases();
  std::size_t checked = 0;
  for (const auto& one : read["transport_failures"].GetArray()) {
    const auto found = ends.find(one["name"].GetString());
    if (found == ends.end())
      continue; // a process that is killed has no answer to judge: the sweep makes it unknown
    BOOST_TEST_CONTEXT(found->first)
    BOOST_TEST(name(judge_send(found->second, newsletter()).what) == one["class"].GetString());
    ++checked;
  }
  BOOST_TEST(checked == 9u);
}

BOOST_AUTO_TEST_CASE(how_a_transfer_ended_decides_whether_the_message_may_go_again) {
  const auto becomes = [](transfer_end how, outcome_kind kind, reason_code reason) {
    const auto given = judge_send(ending(how), newsletter()).answer;
    BOOST_TEST_CONTEXT(static_cast<int>(how)) {
      BOOST_TEST((given.kind == kind));
      BOOST_TEST((given.reason == reason));
      BOOST_TEST((given.refused == refusal::none));
      BOOST_TEST(given.diagnostic == "what curl said");
    }
  };
  using kind = outcome_kind;
  becomes(transfer_end::not_written, kind::not_started, reason_code::provider_unreachable);
  becomes(transfer_end::refused, kind::not_started, reason_code::none);
  becomes(transfer_end::not_taken, kind::throttled, reason_code::provider_unavailable);
  becomes(transfer_end::lost, kind::unknown, reason_code::provider_connection_lost);
  becomes(transfer_end::too_large, kind::unknown, reason_code::provider_connection_lost);
  becomes(transfer_end::timed_out, kind::unknown, reason_code::provider_timeout);
  const auto forged = judge_send(ending(transfer_end::not_written, true), newsletter()).answer;
  BOOST_TEST((forged.kind == outcome_kind::throttled));
  BOOST_TEST((forged.refused == refusal::sending_paused));
}

BOOST_AUTO_TEST_CASE(every_status_of_a_bulk_entry_has_its_class) {
  const auto read = cases();
  for (const auto& one : read["bulk_entry_status"].GetObject())
    BOOST_TEST(name(class_of_bulk_status(one.name.GetString()).value()) == one.value.GetString());
  BOOST_TEST(read["bulk_entry_status"].MemberCount() == 14u);
  BOOST_TEST(!class_of_bulk_status("SOMETHING_NEW").has_value());
}

BOOST_AUTO_TEST_CASE(who_is_not_verified_decides_between_the_message_and_its_stream) {
  const auto judged = [](const std::string& identities) {
    return name(judge_send(answer(400,
                                  R"({"message":"Email address is not verified. The following )"
                                  R"(identities failed the check in region EU-WEST-1: )"
                                      + identities + R"("})",
                                  "MessageRejected"),
                           newsletter())
                    .what);
  };
  BOOST_TEST(judged("READER@example.com") == "message_failed");
  BOOST_TEST(judged("reader@example.com, other@example.com") == "message_failed");
  BOOST_TEST(judged("reader@example.com, news@example.org") == "campaign_stop");
  BOOST_TEST(judged("News <news@example.org>") == "campaign_stop");
  BOOST_TEST(judged("arn:aws:ses:eu-west-1:1:identity/example.org") == "campaign_stop");
  BOOST_TEST(judged("") == "campaign_stop");
}

BOOST_AUTO_TEST_CASE(a_refused_signature_says_what_to_put_right) {
  const auto needs = [](const http_result& came) { return judge_send(came, newsletter()).needs; };
  BOOST_TEST(
      (needs(answer(403, R"({"message":"Signature expired: x"})", "InvalidSignatureException"))
       == resign_need::clock));
  BOOST_TEST((needs(answer(403, "{}", "ExpiredTokenException")) == resign_need::credentials));
  auto dated =
      answer(403, R"({"message":"Signature not yet current"})", "InvalidSignatureException");
  dated.headers.emplace_back("Date", "Sun, 01 Mar 2026 10:00:00 GMT");
  BOOST_TEST(judge_send(dated, newsletter()).provider_time.value() == 1772359200);
  const auto given_up = give_up_signing(judge_send(dated, newsletter()));
  BOOST_TEST((given_up.what == ses_class::account_stop));
  BOOST_TEST((given_up.answer.refused == refusal::sending_paused));
  BOOST_TEST(given_up.answer.diagnostic.find("clock") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(diagnostics_have_request_and_code_but_no_address_and_nothing_signed) {
  auto came = answer(403,
                     R"({"message":"The signature of AKIAIOSFODNN7EXAMPLE for news@example.org )"
                     R"(does not match.\n\nThe Canonical String for this request should have been )"
                     R"('POST\nx-amz-security-token:hush'"})",
                     "InvalidSignatureException");
  came.headers.emplace_back("x-amzn-RequestId", "r-1");
  const auto told = judge_send(came, newsletter()).answer.diagnostic;
  BOOST_TEST(told.starts_with("403 InvalidSignatureException: The signature of *** for "
                              "n***@example.org does not match. (request r-1)"),
             told);
  BOOST_TEST(told.find("hush") == std::string::npos);
  const auto odd =
      judge_send(answer(400, "{\"message\":\"a\\u0007b\\u001b[31m\"}", "Some\x01"), newsletter());
  BOOST_TEST(odd.answer.diagnostic.find('\x1b') == std::string::npos);
  BOOST_TEST(odd.answer.diagnostic.find('\x01') == std::string::npos);
  const auto endless = judge_send(
      answer(400, "{\"message\":\"" + std::string(100000, 'x') + "\"}", "Bad"), newsletter());
  BOOST_TEST(endless.answer.diagnostic.size() < 600u);
}

BOOST_AUTO_TEST_CASE(retry_after_is_read_in_seconds_and_bounded) {
  const auto wait = [](const char* value) {
    auto came = answer(503, "");
    came.headers.emplace_back("retry-after", value);
    return judge_send(came, newsletter()).answer.retry_after;
  };
  using std::chrono::seconds;
  BOOST_TEST((wait("0") == seconds{0}));
  BOOST_TEST((wait("7") == seconds{7}));
  BOOST_TEST((wait("86400") == seconds{3600}));
  BOOST_TEST((wait("99999999999999999999") == seconds{3600}));
  for (const auto* const bad : {"", "-1", "soon", "1.5"})
    BOOST_TEST(!wait(bad).has_value(), bad);
}

BOOST_AUTO_TEST_SUITE_END()
