#include <boost/test/unit_test.hpp>

#include <rapidjson/document.h>

#include "tools/paceline/report.hpp"

using namespace paceline;

namespace {

curve of(std::vector<std::int64_t> starts) {
  return {.first_second = 1'700'000'000, .starts = std::move(starts)};
}

campaign_view finished_campaign() {
  campaign_view campaign;
  campaign.id = stream_id{373217432412160001};
  campaign.name = "Spring";
  campaign.route = "test:sim";
  campaign.state = "finished";
  campaign.audience = campaign.expanded = 10;
  campaign.accepted = 9;
  campaign.rejected = 1;
  campaign.first_start_s = 0.25;
  campaign.last_start_s = 4.75;
  campaign.last_record_s = 5.0;
  campaign.target_per_second = 2;
  return campaign;
}

} // namespace

BOOST_AUTO_TEST_SUITE(cli_report)

BOOST_AUTO_TEST_CASE(no_start_has_no_rates) {
  const auto figures = figures_of(of({}), std::nullopt);
  BOOST_TEST(figures.starts == 0);
  BOOST_TEST(!figures.mean);
  BOOST_TEST(!figures.median);
  BOOST_TEST(!figures.p90);
  BOOST_TEST(figures.peak == 0);
  BOOST_TEST(figures.idle_seconds == 0);
}

BOOST_AUTO_TEST_CASE(one_start_is_a_peak_but_no_rate) {
  const auto figures = figures_of(of({1}), 0.0);
  BOOST_TEST(figures.starts == 1);
  BOOST_TEST(!figures.mean);
  BOOST_TEST(!figures.median);
  BOOST_TEST(figures.peak == 1);
}

BOOST_AUTO_TEST_CASE(two_starts_are_one_interval) {
  const auto figures = figures_of(of({1, 1}), 0.5);
  BOOST_REQUIRE(figures.mean.has_value());
  BOOST_TEST(*figures.mean == 2.0);
  BOOST_TEST(!figures.median); // both seconds are partial
}

BOOST_AUTO_TEST_CASE(starts_at_one_instant_have_no_mean) {
  BOOST_TEST(!figures_of(of({50}), 0.0).mean);
  BOOST_TEST(!figures_of(of({50}), std::nullopt).mean);
}

BOOST_AUTO_TEST_CASE(the_first_and_the_last_second_are_not_whole) {
  const auto figures = figures_of(of({3, 10, 20, 1}), 2.5);
  BOOST_TEST(figures.median.value() == 15.0);
  BOOST_TEST(figures.p90.value() == 20.0);
  const auto burst = figures_of(of({99, 10, 20, 98}), 2.5);
  BOOST_TEST(burst.median.value() == 15.0);
  BOOST_TEST(burst.peak == 99);
}

BOOST_AUTO_TEST_CASE(p90_is_what_nine_of_ten_seconds_do_not_exceed) {
  // Whole seconds 1 to 10.
  BOOST_TEST(figures_of(of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0}), 11.0).p90.value() == 9.0);
  BOOST_TEST(figures_of(of({5, 7, 5}), 2.0).p90.value() == 7.0);
}

BOOST_AUTO_TEST_CASE(gaps_are_idle_seconds_and_count_for_the_median) {
  const auto figures = figures_of(of({5, 0, 0, 0, 5}), 4.0);
  BOOST_TEST(figures.idle_seconds == 3);
  BOOST_TEST(figures.median.value() == 0.0);
  BOOST_TEST(figures.peak == 5);
}

BOOST_AUTO_TEST_CASE(settled_means_nothing_open_unknown_or_unexpanded) {
  auto campaign = finished_campaign();
  BOOST_TEST(is_settled(campaign));
  campaign.unknown = 1;
  BOOST_TEST(!is_settled(campaign));
  campaign.unknown = 0;
  campaign.open = 1;
  BOOST_TEST(!is_settled(campaign));
  campaign.open = 0;
  campaign.expanded = 9;
  BOOST_TEST(!is_settled(campaign));
}

BOOST_AUTO_TEST_CASE(a_canceled_campaign_is_over_when_nothing_is_open) {
  auto campaign = finished_campaign();
  campaign.state = "canceled";
  campaign.open = 1;
  BOOST_TEST(!is_over(campaign));
  campaign.open = 0;
  BOOST_TEST(is_over(campaign));
  campaign.state = "paused";
  BOOST_TEST(!is_over(campaign));
}

BOOST_AUTO_TEST_CASE(the_text_names_figures_with_units) {
  const auto text = report_text({finished_campaign(), of({2, 2, 2, 2, 2})}, {});
  BOOST_TEST(text.find("250 ms") != std::string::npos); // start latency
  BOOST_TEST(text.find("5 s") != std::string::npos);    // all recorded
  BOOST_TEST(text.find("2/s") != std::string::npos);    // mean
  BOOST_TEST(text.find("\x1b[") == std::string::npos);  // no colours without a terminal
  BOOST_TEST(text.find("stranded") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_name_can_not_steer_the_terminal) {
  auto campaign = finished_campaign();
  campaign.name = "a\x1b[2Jb\n";
  BOOST_TEST(report_text({campaign, of({})}, {}).find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_json_is_valid_and_ids_are_texts) {
  auto campaign = finished_campaign();
  campaign.name = "quote \" backslash \\ newline \n umlaut ü";
  campaign.first_start_s.reset();
  json_text out;
  report_json(out, {campaign, of({2, 2})});
  rapidjson::Document parsed;
  parsed.Parse(out.line().c_str());
  BOOST_REQUIRE(!parsed.HasParseError());
  BOOST_TEST(parsed["campaign"].GetString() == "373217432412160001");
  BOOST_TEST(parsed["name"].GetString() == campaign.name);
  BOOST_TEST(parsed["figures"]["mean_per_second"].IsNull());
  BOOST_TEST(parsed["figures"]["stranded"].GetInt() == 0);
  BOOST_TEST(parsed["curve"]["starts"].Size() == 2u);
  BOOST_TEST(parsed["counts"]["accepted"].GetInt() == 9);
}

BOOST_AUTO_TEST_SUITE_END()
