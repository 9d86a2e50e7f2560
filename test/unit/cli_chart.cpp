#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <sstream>

#include "tools/paceline/chart.hpp"
#include "tools/paceline/output.hpp"

using namespace paceline;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

std::string chart(const std::vector<std::int64_t>& starts, int width, bool utf8, double target) {
  return draw_chart(starts,
                    {.width = width, .height = 8, .utf8 = utf8, .target_per_second = target});
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

} // namespace

BOOST_AUTO_TEST_SUITE(cli_chart)

BOOST_AUTO_TEST_CASE(a_curve_without_a_start_is_a_sentence) {
  BOOST_TEST(chart({}, 80, true, 100).find("Nothing was started") == 0u);
  BOOST_TEST(chart({0, 0}, 80, true, 100).find("Nothing was started") == 0u);
}

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_the_terminal) {
  for (const int width : {40, 61, 80, 200})
    for (const std::size_t seconds : {1, 2, 3, 59, 60, 61, 500, 86'400})
      for (const bool utf8 : {true, false})
        for (const auto& line :
             lines_of(chart(std::vector<std::int64_t>(seconds, 5000), width, utf8, 5000)))
          BOOST_TEST(display_width(line) <= static_cast<std::size_t>(width), line);
}

BOOST_AUTO_TEST_CASE(without_utf8_every_octet_is_ascii) {
  BOOST_TEST(is_ascii(chart({10, 40, 70, 100, 20}, 80, false, 90)));
  BOOST_TEST(!is_ascii(chart({10, 40, 70, 100, 20}, 80, true, 90)));
}

BOOST_AUTO_TEST_CASE(the_target_is_marked_at_its_height) {
  // Half the peak: the fourth of eight rows from below.
  const auto lines = lines_of(chart({100, 0, 100}, 60, false, 50));
  BOOST_REQUIRE(lines.size() == 10u);
  BOOST_TEST(lines[4].ends_with("target 50"));
  BOOST_TEST(lines[4].find("------") != std::string::npos);
  for (const std::size_t other : {0, 1, 2, 3, 5, 6, 7})
    BOOST_TEST(lines[other].find("target") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_target_above_the_peak_is_the_top) {
  const auto lines = lines_of(chart({10, 20}, 60, false, 80));
  BOOST_TEST(lines[0].find("80/s") == 0u);
  BOOST_TEST(lines[0].ends_with("target 80"));
  BOOST_TEST(lines[7].find('#') != std::string::npos);
  BOOST_TEST(lines[4].find('#') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_long_curve_shares_columns_and_says_so) {
  const auto shown = fit_columns(std::vector<std::int64_t>(600, 7), 50);
  BOOST_TEST(shown.seconds_per_column == 12);
  BOOST_TEST(shown.heights.size() == 50u);
  for (const double height : shown.heights)
    BOOST_TEST(height == 7.0);
  BOOST_TEST(chart(std::vector<std::int64_t>(600, 7), 60, false, 7).find("the mean of")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_last_column_is_the_mean_of_what_it_holds) {
  const auto shown = fit_columns({4, 4, 4, 4, 10}, 3); // two seconds a column, one in the last
  BOOST_REQUIRE(shown.heights.size() == 3u);
  BOOST_TEST(shown.heights[2] == 10.0);
}

BOOST_AUTO_TEST_CASE(a_short_curve_is_stretched_but_not_beyond_reason) {
  BOOST_TEST(fit_columns({1, 2, 3}, 12).columns_per_second == 4);
  BOOST_TEST(fit_columns({1}, 200).columns_per_second == 6);
  BOOST_TEST(fit_columns({1, 2, 3}, 3).heights.size() == 3u);
}

BOOST_AUTO_TEST_CASE(one_start_among_thousands_is_still_seen) {
  const auto lines = lines_of(chart({5000, 1, 5000}, 60, true, 5000));
  BOOST_TEST(lines[7].find("▁") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
