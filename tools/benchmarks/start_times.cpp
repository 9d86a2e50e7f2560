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
/// width is lost, so the slot before a call is mostly the one that was meant.
constexpr double highest_rate_for_lateness = 50;

/// Where in a slot most calls lie: the first of the densest stretch as wide as the 5 ms that a
/// call may be late. Not the earliest of all: a new grid has another phase, and a few calls of an
/// old one would make all others late.
double phase_of(std::vector<double> places, double slot_ns) {
  constexpr double width = 5e6;
  std::sort(places.begin(), places.end());
  const auto count = places.size();
  for (std::size_t i = 0; i < count; ++i)
    places.push_back(places[i] + slot_ns); // a slot's end is the next one's beginning
  std::size_t best = 0, most = 0, end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    while (end < places.size() && places[end] <= places[i] + width)
      ++end;
    if (end - i > most) {
      most = end - i;
      best = i;
    }
  }
  return places[best];
}

std::optional<lateness> lateness_of(const std::vector<started_call>& sorted, double target) {
  if (target > highest_rate_for_lateness)
    return std::nullopt;
  const double slot_ns = static_cast<double>(second_ns) / target;
  std::vector<double> places;
  for (const auto& call : sorted)
    places.push_back(
        std::fmod(static_cast<double>(call.started_ns - sorted.front().started_ns), slot_ns));
  const auto phase = phase_of(places, slot_ns);
  for (auto& place : places)
    place = std::fmod(place - phase + slot_ns, slot_ns) / 1e6;
  return lateness{quantile(places, 0.5), quantile(places, 0.99), quantile(places, 1)};
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

std::vector<started_call> while_backlog_lasts(std::vector<started_call> calls) {
  std::int64_t last_ns = 0;
  for (const auto& call : calls)
    if (call.version == 0)
      last_ns = std::max(last_ns, call.started_ns);
  std::erase_if(calls, [last_ns](const started_call& call) { return call.started_ns > last_ns; });
  return calls;
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
