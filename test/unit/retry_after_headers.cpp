/// What servers say about when to come back, and how often one may.
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>
#include <string>

#include <rapidjson/document.h>

#include "transport/providers/rate_headers.hpp"
#include "transport/providers/retry_after.hpp"

using namespace paceline;

BOOST_AUTO_TEST_SUITE(retry_after_headers)

BOOST_AUTO_TEST_CASE(every_vector_gets_its_delay) {
  std::ifstream file{PACELINE_SOURCE_DIR "/test/vectors/retry-after/cases.json"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  rapidjson::Document vectors;
  BOOST_REQUIRE(!vectors.Parse(text.data(), text.size()).HasParseError());
  BOOST_TEST(vectors["cap_seconds"].GetInt64() == max_retry_after.count());
  std::size_t checked = 0;
  for (const auto& each : vectors["cases"].GetArray()) {
    const std::string value{each["value"].GetString(), each["value"].GetStringLength()};
    const auto delay = parse_retry_after(value, each["now"].GetInt64());
    const auto& expect = each["expect"];
    ++checked;
    BOOST_TEST_CONTEXT("'" << value << "': " << each["why"].GetString()) {
      BOOST_TEST(delay.has_value() == !expect.IsNull());
      if (delay && expect.IsInt())
        BOOST_TEST(delay->count() == expect.GetInt());
      else if (delay)
        BOOST_TEST((*delay == max_retry_after));
    }
  }
  BOOST_TEST(checked == 38);
}

BOOST_AUTO_TEST_CASE(the_lowest_limit_with_a_window_counts) {
  const auto rate = [](std::string_view limit, std::string_view reset, std::string_view policy) {
    return requests_per_second({limit, reset, policy}).value_or(-1);
  };
  BOOST_TEST(rate("2", "1", "") == 2);
  BOOST_TEST(rate("10", "1", "10;w=1") == 10);
  BOOST_TEST(rate("100, 100;w=60", "37", "") == 100.0 / 60);
  BOOST_TEST(rate("", "", "10;w=1, 300;w=60") == 5);
  BOOST_TEST(rate("", "", R"("burst";q=100;w=60, "day";q=86400;w=86400)") == 1);
  BOOST_TEST(rate("5", "0", "") == 5);
}

BOOST_AUTO_TEST_CASE(a_window_of_which_only_the_rest_is_known_counts_as_the_next_usual_one) {
  const auto rate = [](std::string_view limit, std::string_view reset) {
    return requests_per_second({limit, reset, ""}).value_or(-1);
  };
  BOOST_TEST(rate("120", "37") == 2);
  BOOST_TEST(rate("3600", "1801") == 1);
  BOOST_TEST(rate("3600", "100000") == 0.036);
}

BOOST_AUTO_TEST_CASE(limits_that_make_no_sense_are_none) {
  for (const char* limit : {"", "x", "-1", "0", "2.5", "1e3", ";w=1", ","})
    BOOST_TEST(!requests_per_second({limit, "1", ""}).has_value(), limit);
  for (const char* reset : {"", "soon", "-1"})
    BOOST_TEST(!requests_per_second({"2", reset, ""}).has_value(), reset);
  for (const char* policy : {"10", "10;w=0", "0;w=1", "w=1", "10;w=x", "\"a\";q=;w=1"})
    BOOST_TEST(!requests_per_second({"", "", policy}).has_value(), policy);
}

BOOST_AUTO_TEST_CASE(the_reset_is_a_delay_with_a_bound) {
  BOOST_TEST(until_reset({"", "7", ""})->count() == 7);
  BOOST_TEST(until_reset({"", "99999999999999999999", ""})->count() == max_retry_after.count());
  BOOST_TEST(!until_reset({"", "", ""}).has_value());
  BOOST_TEST(!until_reset({"", "tomorrow", ""}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
