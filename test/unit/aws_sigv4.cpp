#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "transport/aws/aws_time.hpp"
#include "transport/aws/credentials.hpp"
#include "transport/aws/sigv4.hpp"
#include "transport/aws/signed_request.hpp"

using namespace paceline;

namespace {

const aws_credentials example_keys{
    "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", {}, std::nullopt};
constexpr const char* suite_token =
    "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";
constexpr std::string_view suite_date = "20150830T123600Z";

rapidjson::Document vectors(const std::string& file) {
  std::ifstream in{PACELINE_SOURCE_DIR "/test/vectors/sigv4/" + file};
  std::stringstream text;
  text << in.rdbuf();
  rapidjson::Document read;
  BOOST_REQUIRE(!read.Parse(text.str().c_str()).HasParseError());
  return read;
}

/// A request as the suite writes it: a request line, headers that may go on in the next line, an
/// empty line, the body.
struct written_request {
  std::string method, target, body;
  std::vector<std::pair<std::string, std::string>> headers;

  explicit written_request(const std::string& text) {
    std::istringstream lines{text};
    std::string line;
    std::getline(lines, line);
    const auto first = line.find(' '), last = line.rfind(' ');
    method = line.substr(0, first);
    target = line.substr(first + 1, last - first - 1);
    while (std::getline(lines, line) && !line.empty()) {
      if (line[0] == ' ')
        headers.back().second += "\n" + line;
      else
        headers.emplace_back(line.substr(0, line.find(':')), line.substr(line.find(':') + 1));
    }
    std::getline(lines, body, '\0');
  }
};

struct signed_texts {
  std::string canonical, to_sign, authorization;
};

signed_texts sign(sigv4_signer& signer, const std::string& method, const std::string& target,
                  const std::vector<std::pair<std::string, std::string>>& headers,
                  const std::string& body, std::string_view date) {
  std::vector<header_to_sign> views;
  for (const auto& [name, value] : headers)
    views.push_back({name, value});
  const auto hash = signer.hash(body);
  const request_to_sign request{method, target, views, hash};
  const auto form = canonicalize(request);
  return {form.text, signer.string_to_sign(form, date),
          signer.authorize(request, example_keys, date)};
}

} // namespace

BOOST_AUTO_TEST_SUITE(aws_sigv4)

BOOST_AUTO_TEST_CASE(every_case_of_aws_own_suite_is_signed_as_there) {
  sigv4_signer signer{"us-east-1", "service"};
  const auto suite = vectors("suite.json");
  for (const auto& one : suite["cases"].GetArray()) {
    written_request request{one["req"].GetString()};
    // This one has its token from the credentials, not in the request.
    if (one["name"] == "get-vanilla-with-session-token")
      request.headers.emplace_back("X-Amz-Security-Token", suite_token);
    const auto made =
        sign(signer, request.method, request.target, request.headers, request.body, suite_date);
    BOOST_TEST_CONTEXT(one["name"].GetString()) {
      BOOST_TEST(made.canonical == one["creq"].GetString());
      BOOST_TEST(made.to_sign == one["sts"].GetString());
      BOOST_TEST(made.authorization == one["authz"].GetString());
      if (one.HasMember("sreq"))
        BOOST_TEST(std::string{one["sreq"].GetString()}.find(made.authorization)
                   != std::string::npos);
    }
  }
  BOOST_TEST(suite["cases"].Size() == 34u);
}

BOOST_AUTO_TEST_CASE(requests_to_ses_are_signed_with_paths_encoded_twice) {
  const auto extra = vectors("ses-extra.json");
  for (const auto& one : extra["cases"].GetArray()) {
    sigv4_signer signer{one["region"].GetString(), one["service"].GetString()};
    std::vector<std::pair<std::string, std::string>> headers;
    for (const auto& header : one["headers"].GetObject())
      headers.emplace_back(header.name.GetString(), header.value.GetString());
    const std::string body{one["body"].GetString(), one["body"].GetStringLength()};
    const auto made = sign(signer, one["method"].GetString(), one["target"].GetString(), headers,
                           body, one["headers"]["x-amz-date"].GetString());
    BOOST_TEST_CONTEXT(one["name"].GetString()) {
      BOOST_TEST(made.canonical == one["canonical_request"].GetString());
      BOOST_TEST(made.to_sign == one["string_to_sign"].GetString());
      BOOST_TEST(made.authorization == one["authorization"].GetString());
    }
  }
  BOOST_TEST(extra["cases"].Size() == 14u);
}

BOOST_AUTO_TEST_CASE(a_kept_key_serves_its_day_and_its_secret_only) {
  sigv4_signer kept{"us-east-1", "ses"};
  const std::vector<header_to_sign> headers{{"host", "h"}};
  const auto hash = kept.hash("");
  const request_to_sign request{"GET", "/", headers, hash};
  const auto other = [] {
    auto keys = example_keys;
    keys.secret_key = "another";
    return keys;
  }();
  for (const auto* const date : {"20260301T235959Z", "20260302T000000Z", "20260301T235959Z"})
    for (const auto* const keys : {&example_keys, &other, &example_keys}) {
      sigv4_signer fresh{"us-east-1", "ses"};
      BOOST_TEST(kept.authorize(request, *keys, date) == fresh.authorize(request, *keys, date));
    }
  BOOST_TEST(kept.authorize(request, other, "20260301T235959Z")
             != kept.authorize(request, example_keys, "20260301T235959Z"));
}

BOOST_AUTO_TEST_CASE(a_session_token_is_sent_and_signed) {
  request_maker maker{"https://email.eu-west-1.amazonaws.com/", "eu-west-1", "ses"};
  auto keys = example_keys;
  keys.session_token = "token";
  const auto made =
      maker.make({"POST", "/v2/email/outbound-emails", "application/json", "{}"}, keys, 1772359200);
  BOOST_TEST(made.url == "https://email.eu-west-1.amazonaws.com/v2/email/outbound-emails");
  const std::vector<std::string> expected{"x-amz-date: 20260301T100000Z",
                                          "content-type: application/json",
                                          "x-amz-security-token: token"};
  BOOST_TEST(std::vector<std::string>(made.headers.begin(), made.headers.end() - 1) == expected,
             boost::test_tools::per_element());
  BOOST_TEST(made.headers.back().find("SignedHeaders=content-type;host;x-amz-date;"
                                      "x-amz-security-token, Signature=")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_host_is_signed_as_it_is_sent) {
  const auto signature = [](const std::string& endpoint) {
    request_maker maker{endpoint, "eu-west-1", "ses"};
    return maker.make({"GET", "/v2/email/account", {}, {}}, example_keys, 1772359200)
        .headers.back();
  };
  const auto plain = signature("https://email.eu-west-1.amazonaws.com");
  BOOST_TEST(plain.ends_with("39f07956403db4c08ae00656d8650297ac902abed52ef8bf08a365318915b3c4"));
  BOOST_TEST(signature("https://EMAIL.eu-west-1.amazonaws.com:443/") == plain);
  BOOST_TEST(signature("https://email.eu-west-1.amazonaws.com:8443") != plain);
  BOOST_TEST(signature("http://email.eu-west-1.amazonaws.com:443") != plain);
}

BOOST_AUTO_TEST_CASE(an_hmac_takes_keys_of_any_length) {
  // RFC 4231, cases 1, 2 and 6 (a key longer than a block).
  sha256_engine engine;
  const auto mac = [&engine](const std::string& key, std::string_view text) {
    return hex_of(engine.authenticate(engine.make_key(key), text));
  };
  BOOST_TEST(mac(std::string(20, '\x0b'), "Hi There")
             == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  BOOST_TEST(mac("Jefe", "what do ya want for nothing?")
             == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  BOOST_TEST(mac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")
             == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

BOOST_AUTO_TEST_CASE(times_are_read_and_written_as_aws_has_them) {
  BOOST_TEST(amz_date(0) == "19700101T000000Z");
  BOOST_TEST(amz_date(951782400) == "20000229T000000Z");
  BOOST_TEST(amz_date(1772359200) == "20260301T100000Z");
  BOOST_TEST(read_http_date("Sun, 01 Mar 2026 10:00:00 GMT").value() == 1772359200);
  BOOST_TEST(read_utc_time("2026-03-01T10:00:00Z").value() == 1772359200);
  BOOST_TEST(read_utc_time("2026-03-01T10:00:00.123Z").value() == 1772359200);
  for (const auto* const bad : {"", "Sun, 01 Mar 2026 10:00:00 UTC",
                                "Sun, 31 Feb 2026 10:00:00 GMT", "Sun, 01 Mxr 2026 10:00:00 GMT",
                                "Sun, 01 Mar 2026 25:00:00 GMT", "Sun, 0x Mar 2026 10:00:00 GMT"})
    BOOST_TEST(!read_http_date(bad).has_value(), bad);
  for (const auto* const bad : {"", "2026-03-01T10:00:00", "2026-13-01T10:00:00Z",
                                "2026-03-01T10:00:00.Z", "2026-03-01T10:00:00.1xZ"})
    BOOST_TEST(!read_utc_time(bad).has_value(), bad);
}

BOOST_AUTO_TEST_SUITE_END()
