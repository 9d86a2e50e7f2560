#include "tools/benchmarks/start_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "tools/benchmarks/statistics.hpp"

namespace paceline::bench {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t repeats_in(const std::vector<started_call>& calls) {
  std::vector<std::int64_t> ids;
  ids.reserve(calls.size());
  for (const auto& call : calls)
    ids.push_back(call.message);
  std::sort(ids.begin(), ids.end());
  const auto distinct = std::unique(ids.begin(), ids.end()) - ids.begin();
  return static_cast<std::int64_t>(ids.size()) - distinct;
}

/// Up to this rate a slot is at least 20 ms wide. A slot missed by more than 5 ms plus a slot's
/// width is lost, so the nearest slot is mostly the one that was meant.
constexpr double highest_rate_for_lateness = 50;

std::optional<lateness> lateness_of(const std::vector<started_call>& sorted, double target) {
  if (target > highest_rate_for_lateness)
    return std::nullopt;
  const double slot_ns = static_cast<double>(second_ns) / target;
  std::vector<double> distances;
  for (const auto& call : sorted) {
    const auto since = static_cast<double>(call.started_ns - sorted.front().started_ns);
    distances.push_back(since - std::round(since / slot_ns) * slot_ns);
  }
  const double least = *std::min_element(distances.begin(), distances.end());
  for (auto& distance : distances)
    distance = (distance - least) / 1e6;
  return lateness{quantile(distances, 0.5), quantile(distances, 0.99), quantile(distances, 1)};
}

/// Whole seconds, counted from the first start, in which nothing started.
std::int64_t idle_seconds_in(const std::vector<started_call>& sorted) {
  std::int64_t idle = 0, last = 0;
  for (const auto& call : sorted) {
    const auto second = (call.started_ns - sorted.front().started_ns) / second_ns;
    idle += std::max<std::int64_t>(0, second - last - 1);
    last = second;
  }
  return idle;
}

void judge_span(pace_figures& figures, const std::vector<started_call>& sorted, double target) {
  const auto span_ns = sorted.back().started_ns - sorted.front().started_ns;
  const auto paced = figures.recipients - sorted.back().recipients;
  const auto span_s = static_cast<double>(span_ns) / static_cast<double>(second_ns);
  if (span_ns > 0) {
    figures.mean_per_second = static_cast<double>(paced) / span_s;
    figures.mean_over_target = *figures.mean_per_second / target;
  }
  figures.lost_slots = std::max<std::int64_t>(0, std::llround(span_s * target) - paced);
}

} // namespace

std::int64_t worst_window(const std::vector<started_call>& sorted, std::int64_t width_ns) {
  std::int64_t worst = 0, inside = 0;
  std::size_t oldest = 0;
  for (const auto& call : sorted) {
    inside += call.recipients;
    while (call.started_ns - sorted[oldest].started_ns >= width_ns)
      inside -= sorted[oldest++].recipients;
    worst = std::max(worst, inside);
  }
  return worst;
}

pace_figures judge_pace(std::vector<started_call> calls, double target) {
  if (!(target > 0))
    throw std::invalid_argument("the target must be above 0");
  std::sort(calls.begin(), calls.end(),
            [](const auto& a, const auto& b) { return a.started_ns < b.started_ns; });
  pace_figures figures;
  figures.calls = static_cast<std::int64_t>(calls.size());
  if (calls.empty())
    return figures;
  figures.recipients = std::accumulate(
      calls.begin(), calls.end(), std::int64_t{0},
      [](std::int64_t sum, const started_call& call) { return sum + call.recipients; });
  figures.repeats = repeats_in(calls);
  figures.worst_window = worst_window(calls, second_ns);
  figures.worst_window_excess = static_cast<double>(figures.worst_window) - 1.005 * target;
  figures.idle_seconds = idle_seconds_in(calls);
  for (std::size_t i = 1; i < calls.size(); ++i)
    figures.longest_gap_ms =
        std::max(figures.longest_gap_ms,
                 static_cast<double>(calls[i].started_ns - calls[i - 1].started_ns) / 1e6);
  judge_span(figures, calls, target);
  figures.late = lateness_of(calls, target);
  return figures;
}

} // namespace paceline::bench
