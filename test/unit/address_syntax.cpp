#include <boost/test/unit_test.hpp>

#include <fstream>
#include <map>
#include <string>

#include <rapidjson/document.h>

#include "storage/suppressions.hpp"
#include "transport/mail/address.hpp"

using namespace paceline;

namespace {

/// Where we differ from the vectors' verdict on purpose.
const std::map<std::string, std::string> deviations{
    {"isemail-42", "quoted local part: providers and forms get them wrong more often than people"},
    {"isemail-45", "quoted local part"},
    {"isemail-46", "quoted local part"},
    {"own-23", "quoted local part"},
};

} // namespace

BOOST_AUTO_TEST_SUITE(address_syntax)

BOOST_AUTO_TEST_CASE(addresses_get_the_verdict_of_the_vectors) {
  std::ifstream file{PACELINE_SOURCE_DIR "/test/vectors/email-addresses/addresses.jsonl"};
  std::size_t checked = 0, deviated = 0;
  for (std::string line; std::getline(file, line);) {
    rapidjson::Document vector;
    BOOST_REQUIRE(!vector.Parse(line.data(), line.size()).HasParseError());
    const auto& text = vector["address"];
    std::string address{text.GetString(), text.GetStringLength()};
    std::string id = vector["id"].GetString();
    bool expected = std::string{vector["bulk_verdict"].GetString()} == "accept";
    bool deviates = deviations.contains(id);
    deviated += deviates ? 1 : 0;
    BOOST_TEST_CONTEXT(id << " " << address) {
      const auto checked = check_address(address);
      BOOST_TEST(checked.address.has_value() == (expected != deviates));
      if (checked.address && vector.HasMember("normalised") && vector["normalised"].IsString())
        BOOST_TEST(normalized_address(*checked.address)
                   == normalized_address(vector["normalised"].GetString()));
    }
    ++checked;
  }
  BOOST_TEST(checked > 100u);
  BOOST_TEST(deviated == deviations.size());
}

BOOST_AUTO_TEST_CASE(an_address_comes_back_without_blanks_and_otherwise_unchanged) {
  BOOST_TEST(check_address(" \tAnna.Bell+x@Example.COM ").address.value()
             == "Anna.Bell+x@Example.COM");
}

BOOST_AUTO_TEST_CASE(every_refusal_says_why) {
  for (const char* bad : {"", " ", "a", "a@", "@b.c", "a@b@c.d", "a@b", "a@b..c", "a@-b.c",
                          "a@b.c-", "a@b.1", "a..b@c.d", "a b@c.d", "a@b_c.d", "m\xc3\xbc@b.c"}) {
    auto checked = check_address(bad);
    BOOST_TEST(!checked.address.has_value());
    BOOST_TEST(!checked.problem.empty());
  }
  BOOST_TEST(check_address("a@b.c").problem.empty());
}

BOOST_AUTO_TEST_CASE(senders_with_and_without_a_name_pass) {
  for (const char* good :
       {"news@example.com", "Example News <news@example.com>", "<news@example.com>",
        "\"News, Inc.\" <news@example.com>", "\"a \\\"b\\\"\" <news@example.com>",
        "B\xc3\xbc"
        "cher <news@example.com>"})
    BOOST_TEST(!sender_problem(good).has_value());
}

BOOST_AUTO_TEST_CASE(senders_that_could_add_a_header_or_mislead_are_refused) {
  for (const std::string& bad :
       {std::string{""}, std::string{"News"}, std::string{"News <news>"},
        std::string{"News, Inc. <news@example.com>"}, std::string{"a@b.c <news@example.com>"},
        std::string{"\"News <news@example.com>"}, std::string{"\"a\" b <news@example.com>"},
        std::string{"\"a\\\" <news@example.com>"}, std::string{"News <news@example.com"},
        std::string{"News news@example.com>"}, std::string{"News\r\nBcc: x@y.z <news@example.com>"},
        std::string{"News\n <news@example.com>"}, std::string{"N\0 <news@example.com>", 21},
        std::string{"\xff <news@example.com>"}, std::string(400, 'a') + " <news@example.com>"})
    BOOST_TEST(sender_problem(bad).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
