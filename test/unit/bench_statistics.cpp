#include <boost/test/unit_test.hpp>

#include <stdexcept>

#include "tools/benchmarks/figures.hpp"
#include "tools/benchmarks/floor_loop.hpp"
#include "tools/benchmarks/statistics.hpp"

using namespace paceline::bench;

BOOST_AUTO_TEST_SUITE(bench_statistics)

BOOST_AUTO_TEST_CASE(the_median_of_an_odd_number_is_the_middle_one) {
  const auto of = spread_of({5, 1, 9});
  BOOST_TEST(of.min == 1.0);
  BOOST_TEST(of.median == 5.0);
  BOOST_TEST(of.max == 9.0);
}

BOOST_AUTO_TEST_CASE(the_median_of_an_even_number_lies_between_the_middle_two) {
  BOOST_TEST(spread_of({4, 1, 2, 9}).median == 3.0);
}

BOOST_AUTO_TEST_CASE(nothing_has_no_statistics) {
  BOOST_CHECK_THROW(spread_of({}), std::invalid_argument);
  BOOST_CHECK_THROW(quantile({}, 0.5), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_quantile_is_a_value_that_occurred) {
  const std::vector<double> ten{10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  BOOST_TEST(quantile(ten, 0) == 1.0);
  BOOST_TEST(quantile(ten, 0.5) == 5.0);
  BOOST_TEST(quantile(ten, 0.9) == 9.0);
  BOOST_TEST(quantile(ten, 0.91) == 10.0);
  BOOST_TEST(quantile(ten, 1) == 10.0);
}

BOOST_AUTO_TEST_CASE(runs_are_gathered_by_name_in_the_order_of_their_first_appearance) {
  samples gathered;
  gathered.add("rate", "1/s", 3);
  gathered.add("latency", "s", 1);
  gathered.add("rate", "1/s", 5);
  const auto figures = gathered.figures();
  BOOST_TEST_REQUIRE(figures.size() == 2U);
  BOOST_TEST(figures[0].name == "rate");
  BOOST_TEST(figures[0].runs.median == 4.0);
  BOOST_TEST(figures[1].name == "latency");
  BOOST_TEST(!gathered.of("nobody").has_value());
}

BOOST_AUTO_TEST_CASE(a_requirement_judges_the_median) {
  figure rate{"rate", "1/s", {1, 20, 30}, std::nullopt, requirement{bound::at_least, 19.5}};
  BOOST_TEST(rate.is_met().value());
  rate.runs.median = 19.4;
  BOOST_TEST(!rate.is_met().value());
  figure late{"late", "s", {0, 1, 9}, std::nullopt, requirement{bound::at_most, 1}};
  BOOST_TEST(late.is_met().value());
  late.required.reset();
  BOOST_TEST(!late.is_met().has_value());
}

BOOST_AUTO_TEST_CASE(a_promise_is_judged_by_the_worst_run) {
  figure excess{
      "excess", "", {-1, 0, 3}, std::nullopt, requirement{bound::at_most, 2, false, true}};
  BOOST_TEST(!excess.is_met().value());
  excess.required->side = bound::at_least;
  BOOST_TEST(!excess.is_met().value());
  excess.runs.min = 2;
  BOOST_TEST(excess.is_met().value());
}

BOOST_AUTO_TEST_CASE(a_requirement_of_the_ratio_needs_a_floor) {
  figure rate{"rate", "1/s", {1, 20, 30}, 40, requirement{bound::at_least, 0.5, true}};
  BOOST_TEST(rate.ratio().value() == 0.5);
  BOOST_TEST(rate.is_met().value());
  rate.floor.reset();
  BOOST_TEST(!rate.ratio().has_value());
  BOOST_TEST(!rate.is_met().value());
}

BOOST_AUTO_TEST_CASE(one_bench_is_an_object_and_several_are_an_array) {
  const bench_report report{
      "drain", 3, {{"shards", "4"}}, {{"rate", "1/s", {1, 2.5, 3}, 5, std::nullopt}}, {}};
  const environment on{"a \"machine\"", {{"caf", "0.17.6"}}};
  const std::string object =
      R"({"bench":"drain","machine":"a \"machine\"","versions":{"caf":"0.17.6"},)"
      R"("settings":{"shards":"4"},"runs":3,"figures":[{"name":"rate","unit":"1/s",)"
      R"("min":1.0,"median":2.5,"max":3.0,"floor":5.0,"ratio":0.5}]})";
  BOOST_TEST(reports_json({report}, on, false) == object + "\n");
  BOOST_TEST(reports_json({report, report}, on, true) == "[" + object + "," + object + "]\n");
}

BOOST_AUTO_TEST_CASE(a_figure_without_a_floor_has_nulls_in_json) {
  const bench_report report{"floor", 1, {}, {{"rate", "", {1, 1, 1}}}, {}};
  BOOST_TEST(reports_json({report}, {}, false).find(R"("floor":null,"ratio":null)")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_table_marks_what_misses_its_requirement) {
  const bench_report report{
      "x", 1, {}, {{"rate", "1/s", {1, 1, 1}, std::nullopt, requirement{bound::at_least, 2}}}, {}};
  const auto text = report_table(report, {}, {});
  BOOST_TEST(text.find(">= 2") != std::string::npos);
  BOOST_TEST(text.find("MISSED") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(named_blocks_end_where_the_next_begins) {
  const auto blocks = named_blocks("-- about\n-- name: one\nSELECT 1;\n-- name: two\nSELECT\n2;");
  BOOST_TEST(blocks.size() == 2U);
  BOOST_TEST(blocks.at("one") == "SELECT 1;\n");
  BOOST_TEST(blocks.at("two") == "SELECT\n2;");
  BOOST_CHECK_THROW(named_blocks("-- name: a\n-- name: a\n"), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
