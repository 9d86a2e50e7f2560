#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

#include "tools/simulators/behaviour.hpp"
#include "tools/simulators/http_service.hpp"
#include "tools/simulators/signature_check.hpp"
#include "tools/simulators/simulation.hpp"

using namespace paceline::simulators;
using namespace std::chrono_literals;

namespace {

/// 2026-03-01T10:00:00Z, when the requests below were signed.
constexpr std::int64_t signed_at = 1772359200;

const std::string scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260301/eu-west-1/ses/"
                          "aws4_request, ";

/// Signatures from a signer that none of us wrote: npm @smithy/signature-v4.
const std::string email_authorization =
    scope
    + "SignedHeaders=content-type;host;x-amz-date, "
      "Signature=98600ab023465e0bdb8acda8fb945b87be3ceb5b209df344abbba041934fde8a";
const std::string suppression_authorization =
    scope
    + "SignedHeaders=host;x-amz-date, "
      "Signature=6e06b05233e8e1210d9f3593267bece4881c967491a600f4fba3126b0146ec0b";
const std::string list_authorization =
    scope
    + "SignedHeaders=host;x-amz-date, "
      "Signature=29375ce934d2931ebb7f6ad43626600b8761c48c53bb9694c6d5a12d5fc4a964";

http_request request(const char* method, const char* target, const std::string& authorization) {
  http_request made;
  made.method = method;
  made.target = target;
  made.headers = {{"Host", "email.eu-west-1.amazonaws.com"},
                  {"X-Amz-Date", "20260301T100000Z"},
                  {"Authorization", authorization}};
  return made;
}

http_request email_request() {
  auto made = request("POST", "/v2/email/outbound-emails", email_authorization);
  made.headers.emplace_back("Content-Type", "application/json");
  made.body = R"({"Content":{"Raw":{"Data":"RnJvbTogYUBleGFtcGxlLm9yZw0KDQp4"}},)"
              R"("FromEmailAddress":"a@example.org"})";
  return made;
}

const signing_account account{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "", ""};

std::string verdict(const http_request& what, std::int64_t now = signed_at,
                    const signing_account& of = account) {
  const auto wrong = signature_check(of).check(what, "ses", now);
  return wrong ? wrong->type + ": " + wrong->text : "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(simulators)

BOOST_AUTO_TEST_CASE(the_stand_in_agrees_with_a_signer_of_others) {
  BOOST_TEST(verdict(email_request()) == "");
  BOOST_TEST(verdict(request("DELETE", "/v2/email/suppression/addresses/user%2Btag%40example.com",
                             suppression_authorization))
             == "");
  BOOST_TEST(
      verdict(request("GET",
                      "/v2/email/suppression/addresses?StartDate=2026-02-01T00%3A00%3A00Z"
                      "&PageSize=100&NextToken=a%2Bb%2F%3D%3D&Reason=COMPLAINT&Reason=BOUNCE",
                      list_authorization))
      == "");
}

BOOST_AUTO_TEST_CASE(a_signature_of_anything_else_is_refused) {
  auto other_body = email_request();
  other_body.body.back() = ' ';
  BOOST_TEST(has(verdict(other_body), "does not match"));
  auto other_header = email_request();
  other_header.headers.back().second = "text/plain";
  BOOST_TEST(has(verdict(other_header), "does not match"));
  auto unsigned_header = email_request();
  unsigned_header.headers.emplace_back("X-Amz-Target", "x");
  BOOST_TEST(has(verdict(unsigned_header), "does not match"));
  BOOST_TEST(
      has(verdict(email_request(), signed_at, {"AKIDEXAMPLE", "other", "", ""}), "does not match"));
}

BOOST_AUTO_TEST_CASE(each_way_to_be_refused_has_its_own_words) {
  BOOST_TEST(has(verdict(request("GET", "/", "")), "MissingAuthenticationTokenException"));
  BOOST_TEST(has(verdict(request("GET", "/", "Basic x")), "IncompleteSignatureException"));
  BOOST_TEST(has(verdict(email_request(), signed_at, {"OTHER", "x", "", ""}),
                 "UnrecognizedClientException"));
  BOOST_TEST(has(verdict(email_request(), signed_at, {"AKIDEXAMPLE", "x", "token", ""}),
                 "UnrecognizedClientException"));
  BOOST_TEST(has(verdict(email_request(), signed_at, {"AKIDEXAMPLE", "x", "", "us-east-1"}),
                 "valid region"));
  BOOST_TEST(has(signature_check(account).check(email_request(), "sns", signed_at)->text,
                 "correct service"));
}

BOOST_AUTO_TEST_CASE(clocks_may_differ_by_five_minutes) {
  BOOST_TEST(verdict(email_request(), signed_at + 300) == "");
  BOOST_TEST(verdict(email_request(), signed_at - 300) == "");
  BOOST_TEST(
      verdict(email_request(), signed_at + 301)
      == "InvalidSignatureException: Signature expired: 20260301T100000Z is now earlier than "
         "20260301T100001Z (20260301T100501Z - 5 min.)");
  BOOST_TEST(verdict(email_request(), signed_at - 301)
             == "InvalidSignatureException: Signature not yet current: 20260301T100000Z is still "
                "later than 20260301T095959Z (20260301T095459Z + 5 min.)");
}

BOOST_AUTO_TEST_CASE(a_bucket_refills_at_tolerance_times_the_rate) {
  const instant begin{};
  token_bucket bucket(100, 1.15, begin);
  // 3 + 5 % of the rate to begin with.
  for (int i = 0; i < 8; ++i)
    BOOST_TEST(bucket.take(1, begin));
  BOOST_TEST(!bucket.take(1, begin));
  int taken = 0;
  for (auto now = begin; now < begin + 10s; now += 1ms)
    taken += bucket.take(1, now) ? 1 : 0;
  BOOST_TEST(taken >= 1149);
  BOOST_TEST(taken <= 1150);
}

BOOST_AUTO_TEST_CASE(a_wide_message_passes_a_full_small_bucket_and_leaves_a_debt) {
  const instant begin{};
  token_bucket bucket(1, 1, begin);
  BOOST_TEST(bucket.take(50, begin));
  BOOST_TEST(!bucket.take(1, begin + 46s));
  BOOST_TEST(bucket.take(1, begin + 48s));
}

BOOST_AUTO_TEST_CASE(latency_has_the_mean_it_was_given) {
  simulation_options options;
  options.latency_ms = 170;
  options.jitter = 0.3;
  simulation shared(options);
  std::chrono::nanoseconds sum{0};
  constexpr int draws = 20'000;
  for (int i = 0; i < draws; ++i)
    sum += shared.draw_latency();
  const double mean_ms = std::chrono::duration<double, std::milli>(sum).count() / draws;
  BOOST_TEST(mean_ms > 168);
  BOOST_TEST(mean_ms < 172);
}

BOOST_AUTO_TEST_CASE(a_fault_concerns_the_share_and_the_calls_it_is_for) {
  simulation shared(simulation_options{});
  active_fault fault;
  fault.what = behaviour::error;
  fault.share = 0.33;
  fault.reused_only = true;
  shared.set_fault(fault);
  int hit = 0, spared = 0;
  for (int i = 0; i < 10'000; ++i) {
    hit += shared.draw_fault(call_kind::send, true) == behaviour::error ? 1 : 0;
    spared += shared.draw_fault(call_kind::account, true) == behaviour::success ? 1 : 0;
    spared += shared.draw_fault(call_kind::send, false) == behaviour::success ? 1 : 0;
  }
  BOOST_TEST(hit > 3100);
  BOOST_TEST(hit < 3500);
  BOOST_TEST(spared == 20'000);
}

BOOST_AUTO_TEST_CASE(recipients_ask_for_faults_by_their_local_part) {
  BOOST_TEST((behaviour_of("throttle+7@simulator.paceline.test") == behaviour::throttle));
  BOOST_TEST((behaviour_of("disconnect@simulator.paceline.test") == behaviour::close_after_read));
  BOOST_TEST((behaviour_of("throttle@example.com") == behaviour::success));
  BOOST_TEST((behaviour_of("user7@simulator.paceline.test") == behaviour::success));
  BOOST_TEST((code_asked("rcpt-450+1@simulator.paceline.test", "rcpt") == 450));
  BOOST_TEST(!code_asked("rcpt-250@simulator.paceline.test", "rcpt"));
  BOOST_TEST(!code_asked("rcpt-450@simulator.paceline.test", "data"));
}

BOOST_AUTO_TEST_CASE(a_cut_answer_announces_more_than_it_sends) {
  auto answer = json_answer(200, "{\"MessageId\":\"0123456789\"}");
  const auto length = std::to_string(answer.body.size());
  spoil(answer, behaviour::cut_body);
  const auto text = wire_text(answer);
  BOOST_TEST(has(text, "Content-Length: " + length));
  BOOST_TEST(!has(text, "0123456789"));
}

BOOST_AUTO_TEST_SUITE_END()
