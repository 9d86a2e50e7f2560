#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "tools/benchmarks/ledger_file.hpp"
#include "tools/benchmarks/start_times.hpp"

using namespace paceline::bench;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t millisecond = 1'000'000;

/// One call per slot of a grid of `rate` per second.
std::vector<started_call> even_calls(std::int64_t count, std::int64_t rate) {
  std::vector<started_call> calls;
  for (std::int64_t i = 0; i < count; ++i)
    calls.push_back({i + 1, 1000 * second + i * second / rate, 1});
  return calls;
}

/// The same by looking at every window that begins with a call.
std::int64_t worst_window_by_force(const std::vector<started_call>& calls, std::int64_t width) {
  std::int64_t worst = 0;
  for (const auto& begin : calls) {
    std::int64_t inside = 0;
    for (const auto& call : calls)
      if (call.started_ns >= begin.started_ns && call.started_ns < begin.started_ns + width)
        inside += call.recipients;
    worst = std::max(worst, inside);
  }
  return worst;
}

} // namespace

BOOST_AUTO_TEST_SUITE(bench_start_times)

BOOST_AUTO_TEST_CASE(a_perfect_grid_is_the_target_exactly) {
  const auto seen = judge_pace(even_calls(1001, 20), 20);
  BOOST_TEST(*seen.mean_per_second == 20.0);
  BOOST_TEST(*seen.mean_over_target == 1.0);
  BOOST_TEST(seen.worst_window == 20);
  BOOST_TEST(seen.worst_window_excess == 20 - 20.1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(seen.lost_slots == 0);
  BOOST_TEST(seen.repeats == 0);
  BOOST_TEST(seen.idle_seconds == 0);
  BOOST_TEST(seen.longest_gap_ms == 50.0);
  BOOST_TEST(seen.late->max_ms == 0.0);
}

BOOST_AUTO_TEST_CASE(a_window_holds_its_first_instant_and_not_its_last) {
  const std::vector<started_call> calls{{1, 0, 1}, {2, second - 1, 1}, {3, second, 1}};
  BOOST_TEST(worst_window(calls, second) == 2);
  BOOST_TEST(worst_window(calls, second + 1) == 3);
}

BOOST_AUTO_TEST_CASE(a_burst_is_found_wherever_it_lies) {
  auto calls = even_calls(200, 10);
  for (std::int64_t i = 0; i < 7; ++i)
    calls.push_back({1000 + i, 1013 * second + 987 * millisecond, 1});
  const auto seen = judge_pace(calls, 10);
  BOOST_TEST(seen.worst_window == 17);
  BOOST_TEST(seen.worst_window_excess == 17 - 10.05, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(recipients_count_and_not_calls) {
  const auto seen = judge_pace({{1, 0, 5}, {2, second / 2, 3}, {3, 2 * second, 1}}, 4);
  BOOST_TEST(seen.calls == 3);
  BOOST_TEST(seen.recipients == 9);
  BOOST_TEST(seen.worst_window == 8);
  BOOST_TEST(*seen.mean_per_second == 4.0);
}

BOOST_AUTO_TEST_CASE(the_sliding_window_agrees_with_counting_every_window) {
  std::mt19937_64 random(20);
  for (int round = 0; round < 50; ++round) {
    std::vector<started_call> calls;
    for (int i = 0; i < 60; ++i)
      calls.push_back({i, static_cast<std::int64_t>(random() % (4 * second)),
                       static_cast<std::int32_t>(1 + random() % 3)});
    std::sort(calls.begin(), calls.end(),
              [](const auto& a, const auto& b) { return a.started_ns < b.started_ns; });
    BOOST_TEST(worst_window(calls, second) == worst_window_by_force(calls, second));
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_the_ledger_does_not_matter) {
  auto calls = even_calls(500, 100);
  std::mt19937_64 random(1);
  std::shuffle(calls.begin(), calls.end(), random);
  BOOST_TEST(*judge_pace(calls, 100).mean_over_target == 1.0, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_slot_without_a_call_is_lost_and_slows_the_mean) {
  auto calls = even_calls(101, 10);
  calls.erase(calls.begin() + 40, calls.begin() + 43);
  const auto seen = judge_pace(calls, 10);
  BOOST_TEST(seen.lost_slots == 3);
  BOOST_TEST(*seen.mean_over_target == 0.97, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(seen.longest_gap_ms == 400.0);
}

BOOST_AUTO_TEST_CASE(a_message_called_twice_is_a_repeat) {
  auto calls = even_calls(10, 10);
  calls[7].message = calls[2].message;
  BOOST_TEST(judge_pace(calls, 10).repeats == 1);
}

BOOST_AUTO_TEST_CASE(seconds_without_a_start_are_idle) {
  const auto seen = judge_pace({{1, 0, 1}, {2, 3 * second + 1, 1}, {3, 4 * second, 1}}, 1);
  BOOST_TEST(seen.idle_seconds == 2);
}

BOOST_AUTO_TEST_CASE(lateness_is_measured_from_where_most_calls_lie) {
  auto calls = even_calls(100, 20);
  for (auto& call : calls)
    call.started_ns += millisecond;
  calls[50].started_ns += 3 * millisecond;
  calls[51].started_ns += 7 * millisecond;
  const auto seen = judge_pace(calls, 20);
  BOOST_TEST(seen.late->median_ms == 0.0, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(seen.late->max_ms == 7.0, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(!judge_pace(calls, 1000).late.has_value());
}

BOOST_AUTO_TEST_CASE(calls_of_an_old_grid_do_not_make_the_others_late) {
  auto calls = even_calls(100, 20);
  for (std::size_t i = 3; i < calls.size(); ++i)
    calls[i].started_ns += 30 * millisecond;
  BOOST_TEST(judge_pace(calls, 20).late->median_ms < 1e-6);
}

BOOST_AUTO_TEST_CASE(the_backlog_lasts_until_the_last_message_that_never_came_back) {
  const auto calls = while_backlog_lasts({{1, 5, 1, 0}, {2, 4, 1, 2}, {3, 9, 1, 1}, {4, 6, 1, 0}});
  BOOST_TEST_REQUIRE(calls.size() == 3U);
  for (const auto& call : calls)
    BOOST_TEST(call.message != 3);
  BOOST_TEST(while_backlog_lasts({}).empty());
}

BOOST_AUTO_TEST_CASE(nothing_and_one_call_have_no_mean) {
  BOOST_TEST(!judge_pace({}, 20).mean_over_target.has_value());
  const auto one = judge_pace({{1, 5, 1}}, 20);
  BOOST_TEST(!one.mean_over_target.has_value());
  BOOST_TEST(one.worst_window == 1);
  BOOST_CHECK_THROW(judge_pace({}, 0), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_ledger_is_read_line_by_line_and_a_bad_line_is_named) {
  char path[] = "/tmp/paceline-ledger-XXXXXX";
  ::close(::mkstemp(path));
  std::ofstream(path) << R"({"message":385875626617208834,"version":1,"started_ns":17,)"
                      << R"("recipients":2,"node":"n1","route":"test:sim","unanswered":true})"
                      << "\n";
  const auto calls = read_ledger(path);
  BOOST_TEST_REQUIRE(calls.size() == 1U);
  BOOST_TEST(calls[0].message == 385875626617208834);
  BOOST_TEST(calls[0].started_ns == 17);
  BOOST_TEST(calls[0].recipients == 2);
  BOOST_TEST(calls[0].version == 1);
  std::ofstream(path, std::ios::app) << R"({"message":3858756266172)";
  BOOST_CHECK_EXCEPTION(read_ledger(path), std::runtime_error, [](const auto& failure) {
    return std::string{failure.what()}.find("line 2") != std::string::npos;
  });
  std::remove(path);
  BOOST_TEST(read_ledger(path).empty());
}

BOOST_AUTO_TEST_SUITE_END()
