// The instruments themselves: what is counted, the bound of series, the exposition, hooks.

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "config/metrics.hpp"
#include "test/support/read_metrics.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

namespace {

constexpr counter_family plain{"test_things_total", {}, "Things."};
constexpr counter_family labelled{"test_by_kind_total", {"kind", "size"}, "Things by kind."};
constexpr counter_family by_kind{"test_one_label_total", {"kind"}, "Things by one label."};
constexpr gauge_family level{"test_level", {}, "How high."};
constexpr std::array<double, 2> bounds{0.1, 1};
constexpr histogram_family lengths{"test_seconds", {"kind"}, bounds, "How long."};

} // namespace

BOOST_AUTO_TEST_SUITE(metrics_bounds)

BOOST_AUTO_TEST_CASE(a_million_different_label_values_stay_within_the_bound_and_none_is_lost) {
  metrics measured;
  for (int i = 0; i < 1'000'000; ++i)
    measured.get(by_kind, {"value" + std::to_string(i)}).add();
  auto series = series_of(measured.exposition(), "test_one_label_total");
  BOOST_TEST(series.size() == metric_family::max_series);
  double sum = 0;
  for (const auto& [labels, value] : series)
    sum += value;
  BOOST_TEST(sum == 1'000'000);
  BOOST_TEST(series.at(R"({kind="other"})") == 1'000'000 - 199);
}

BOOST_AUTO_TEST_CASE(beyond_the_bound_every_label_says_other_and_known_series_go_on) {
  metrics measured;
  for (int i = 0; i < 1000; ++i)
    measured.get(labelled, {std::to_string(i), "large"}).add();
  measured.get(labelled, {"7", "large"}).add();
  auto series = series_of(measured.exposition(), "test_by_kind_total");
  BOOST_TEST(series.size() == metric_family::max_series);
  BOOST_TEST(series.at(R"({kind="7",size="large"})") == 2);
  BOOST_TEST(series.at(R"({kind="other",size="other"})") == 1000 - 199);
}

BOOST_AUTO_TEST_CASE(a_value_without_an_end_is_cut) {
  metrics measured;
  measured.get(by_kind, {std::string(1 << 20, 'x')}).add();
  BOOST_TEST(measured.exposition().size() < 1000);
}

BOOST_AUTO_TEST_CASE(a_label_value_cannot_break_out_of_its_line) {
  metrics measured;
  measured.get(by_kind, {"a\"} 7\nfake_total 1\\"}).add();
  BOOST_TEST(measured.exposition().find("\nfake_total") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_same_labels_are_the_same_series) {
  metrics measured;
  measured.get(labelled, {"a", "b"}).add();
  measured.get(labelled, {"a", "b"}).add(2);
  measured.get(labelled, {"ab", ""}).add(5);
  BOOST_TEST(measured.get(labelled, {"a", "b"}).value() == 3);
}

BOOST_AUTO_TEST_CASE(what_was_never_asked_for_is_not_shown) {
  metrics measured;
  BOOST_TEST(measured.exposition().empty());
  measured.get(plain);
  BOOST_TEST(series_of(measured.exposition(), "test_things_total").at("") == 0);
}

BOOST_AUTO_TEST_CASE(an_instrument_that_nobody_made_counts_nothing) {
  counter().add();
  counter().raise_to(5);
  gauge().set(3);
  histogram().observe(1s);
  gauge_part part{gauge{}};
  part.set(7);
  BOOST_TEST(counter().value() == 0);
}

BOOST_AUTO_TEST_CASE(the_exposition_has_help_type_and_exact_large_numbers) {
  metrics measured;
  measured.get(plain).raise_to(9'007'199'254'740'991.0);
  auto text = measured.exposition();
  BOOST_TEST(text.find("# HELP test_things_total Things.\n") != std::string::npos);
  BOOST_TEST(text.find("# TYPE test_things_total counter\n") != std::string::npos);
  BOOST_TEST(series_of(text, "test_things_total").at("") == 9'007'199'254'740'991.0);
}

BOOST_AUTO_TEST_CASE(a_counter_that_is_read_never_falls) {
  metrics measured;
  auto things = measured.get(plain);
  for (double total : {3.0, 10.0, 4.0, 11.0}) {
    auto before = things.value();
    things.raise_to(total);
    BOOST_TEST(things.value() == std::max(before, total));
  }
}

BOOST_AUTO_TEST_CASE(a_histogram_counts_durations_in_seconds) {
  metrics measured;
  auto seconds = measured.get(lengths, {"a"});
  seconds.observe(50ms);
  seconds.observe(500ms);
  seconds.observe(20s);
  auto text = measured.exposition();
  auto buckets = series_of(text, "test_seconds_bucket");
  BOOST_TEST(buckets.at(R"({kind="a",le="0.1"})") == 1);
  BOOST_TEST(buckets.at(R"({kind="a",le="1"})") == 2);
  BOOST_TEST(buckets.at(R"({kind="a",le="+Inf"})") == 3);
  BOOST_TEST(series_of(text, "test_seconds_sum").at(R"({kind="a"})") == 20.55);
}

BOOST_AUTO_TEST_CASE(parts_of_a_gauge_add_up_and_are_taken_back) {
  metrics measured;
  auto sum = measured.get(level);
  gauge_part first{sum};
  {
    gauge_part second{sum};
    first.set(10);
    second.set(5);
    second.set(7);
    BOOST_TEST(sum.value() == 17);
    first = std::move(second); // takes back its own part
    BOOST_TEST(sum.value() == 7);
  }
  BOOST_TEST(sum.value() == 7);
  first = gauge_part{};
  BOOST_TEST(sum.value() == 0);
}

BOOST_AUTO_TEST_CASE(a_hook_samples_at_each_scrape_until_it_ends) {
  metrics measured;
  auto height = measured.get(level);
  double next = 1;
  {
    auto hook = measured.on_scrape([&next, height] { height.set(next); });
    BOOST_TEST(series_of(measured.exposition(), "test_level").at("") == 1);
    next = 2;
    BOOST_TEST(series_of(measured.exposition(), "test_level").at("") == 2);
  }
  next = 3;
  BOOST_TEST(series_of(measured.exposition(), "test_level").at("") == 2);
}

BOOST_AUTO_TEST_CASE(many_threads_count_and_scrape_at_once_and_nothing_is_lost) {
  metrics measured;
  constexpr int threads = 4, each = 20'000;
  std::atomic<int> left{threads};
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&measured, &left, t] {
      auto mine = measured.get(by_kind, {std::to_string(t)});
      for (int i = 0; i < each; ++i) {
        mine.add();
        measured.get(plain).add();
      }
      --left;
    });
  while (left > 0)
    static_cast<void>(measured.exposition());
  for (auto& thread : running)
    thread.join();
  BOOST_TEST(measured.get(plain).value() == threads * each);
  for (int t = 0; t < threads; ++t)
    BOOST_TEST(measured.get(by_kind, {std::to_string(t)}).value() == each);
}

BOOST_AUTO_TEST_SUITE_END()
