#include <boost/test/unit_test.hpp>

#include <chrono>

#include "tools/paceline/arguments.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/png.hpp"

using namespace paceline;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(cli_arguments)

BOOST_AUTO_TEST_CASE(durations_are_numbers_with_units) {
  BOOST_TEST((*parse_duration("500ms") == 500ms));
  BOOST_TEST((*parse_duration("10m") == 10min));
  BOOST_TEST((*parse_duration("1h30m") == 90min));
  BOOST_TEST((*parse_duration("2d") == 48h));
}

BOOST_AUTO_TEST_CASE(what_is_no_duration_is_refused) {
  for (const char* text : {"", "10", "m", "-5m", "1.5h", "0s", "10 m", "5y", "367d",
                           "9223372036854775807d", "99999999999999999999s"}) {
    const auto parsed = parse_duration(text);
    BOOST_TEST(!parsed, text);
    if (!parsed)
      BOOST_TEST((parsed.failure().kind == error_kind::invalid));
  }
}

BOOST_AUTO_TEST_CASE(ids_are_positive_numbers) {
  BOOST_TEST(*parse_id("373217432412160001", "message") == 373217432412160001);
  for (const char* text : {"", "0", "-1", "12x", "0x10", "9223372036854775808", " 1"})
    BOOST_TEST(!parse_id(text, "message"), text);
}

BOOST_AUTO_TEST_CASE(fields_become_a_json_object) {
  BOOST_TEST(*fields_json({}) == "{}");
  BOOST_TEST(*fields_json({"name=Zoë \"Z\"", "empty=", "sum=1=1"})
             == R"({"name":"Zoë \"Z\"","empty":"","sum":"1=1"})");
  BOOST_TEST(!fields_json({"name"}));
  BOOST_TEST(!fields_json({"=x"}));
  BOOST_TEST(!fields_json({"a=1", "a=2"}));
  BOOST_TEST(!fields_json({"a=\xff"}));
}

BOOST_AUTO_TEST_CASE(numbers_are_grouped_and_rounded) {
  BOOST_TEST(grouped(0) == "0");
  BOOST_TEST(grouped(999) == "999");
  BOOST_TEST(grouped(-1234567) == "-1,234,567");
  BOOST_TEST(decimal(4987.26) == "4,987.3");
  BOOST_TEST(decimal(5000) == "5,000");
  BOOST_TEST(decimal(-0.01) == "0");
  BOOST_TEST(rate_text(0.02) == "0.02/s");
  BOOST_TEST(rate_text(std::nullopt) == "-");
}

BOOST_AUTO_TEST_CASE(seconds_have_the_unit_that_people_would_use) {
  BOOST_TEST(seconds_text(0.0) == "0 ms");
  BOOST_TEST(seconds_text(0.85) == "850 ms");
  BOOST_TEST(seconds_text(0.9996) == "1 s");
  BOOST_TEST(seconds_text(4.25) == "4.25 s");
  BOOST_TEST(seconds_text(59.999) == "1 min");
  BOOST_TEST(seconds_text(725) == "12 min 5 s");
  BOOST_TEST(seconds_text(12'000) == "3 h 20 min");
  BOOST_TEST(seconds_text(187'200) == "2 d 4 h");
  BOOST_TEST(seconds_text(std::nullopt) == "-");
}

BOOST_AUTO_TEST_CASE(columns_are_aligned_by_what_is_seen) {
  table rows{{{"NAME"}, {"COUNT", align::right}}};
  rows.add({"Zoë", "7"});
  rows.add({"", "1,000"});
  BOOST_TEST(rows.text() == "NAME  COUNT\nZoë       7\n-     1,000\n");
}

BOOST_AUTO_TEST_CASE(json_keeps_commas_and_nulls_right) {
  json_text out;
  out.begin_object().member("a", 1).key("b").begin_array().value("x").value(true).end_array();
  out.member("c", std::optional<double>{}).member("d", 0.5).end_object();
  BOOST_TEST(out.line() == "{\"a\":1,\"b\":[\"x\",true],\"c\":null,\"d\":0.5}\n");
}

BOOST_AUTO_TEST_CASE(a_title_can_not_leave_its_quotes_in_gnuplot) {
  const auto script = gnuplot_script({.title = "it's\n`date`",
                                      .dispatched = {.first_second = 0, .starts = {1, 2}},
                                      .target_per_second = 5});
  BOOST_TEST(script.find("set title 'it''s\\n`date`'\n") != std::string::npos);
  BOOST_TEST(script.find("5.000 with lines") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
