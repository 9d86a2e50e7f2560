#include "tools/benchmarks/benches.hpp"

#include <memory>

#include "tools/benchmarks/site.hpp"

namespace paceline::bench {
namespace {

struct pace_setting {
  const char* name; ///< suffix of its figures
  double quota, factor, tolerance;
  int shards;
  std::int64_t recipients;
  bool brakes; ///< the provider refuses at this pace: the brake must act

  double target() const { return quota * factor; }
};

/// 1,000 at 22/s take 46 s; 30,000 at 1,000/s 30 s.
constexpr pace_setting settings[] = {
    {"22_1shard", 20, 1.1, 1.15, 1, 1000, false},
    {"22_4shards", 20, 1.1, 1.15, 4, 1000, false},
    {"22_braked", 20, 1.1, 1.0, 4, 1000, true},
    {"1000_4shards", 1000, 1.0, 1.15, 4, 30'000, false},
};

/// The promise on one node: never more than 1.005 x target + 2 in a sliding second.
constexpr requirement within_promise{bound::at_most, 2, false, true};
constexpr requirement none{bound::at_most, 0, false, true};
constexpr requirement holds_target{bound::at_least, 0.995, false, true};
/// A target of 22/s that is braked to the quota of 20/s for 10 s after each refusal.
constexpr requirement holds_braked{bound::at_least, 19.5};

void add_figures(samples& into, const pace_setting& at, const pace_figures& seen, double mean,
                 const campaign_view& campaign) {
  const auto named = [&at](const char* name) { return std::string{name} + "_" + at.name; };
  if (at.brakes) {
    into.add(named("mean"), "1/s", mean, holds_braked);
    into.add(named("throttled"), "", static_cast<double>(campaign.throttled),
             requirement{bound::at_least, 1});
  } else {
    // A braked run aims at less and is left out of what stands for all.
    into.add("mean_over_target", "", mean / at.target(), holds_target);
    into.add(named("mean_over_target"), "", mean / at.target(), holds_target);
    into.add(named("throttled"), "", static_cast<double>(campaign.throttled), none);
    into.add(named("lost_slots"), "", static_cast<double>(seen.lost_slots));
  }
  into.add("worst_window_excess", "", seen.worst_window_excess, within_promise);
  into.add(named("worst_window_excess"), "", seen.worst_window_excess, within_promise);
  into.add("duplicates", "", static_cast<double>(seen.repeats), none);
  into.add(named("longest_gap"), "ms", seen.longest_gap_ms);
  into.add(named("idle_seconds"), "s", static_cast<double>(seen.idle_seconds));
  if (seen.late && !at.brakes) {
    into.add(named("lateness_p50"), "ms", seen.late->median_ms);
    into.add(named("lateness_p99"), "ms", seen.late->p99_ms);
  }
}

void run_setting(stage& with, cluster& on, const pace_setting& at, samples& into,
                 bench_report& report) {
  site_settings wanted;
  wanted.shards = at.shards;
  wanted.rate = at.quota;
  wanted.rate_factor = at.factor;
  wanted.tolerance = at.tolerance;
  const auto recipients = with.options().quick ? at.recipients / 5 : at.recipients;
  with.note("pace " + std::string{at.name} + ": " + grouped(recipients) + " recipients at "
            + number_text(at.target()) + "/s, " + counted(at.shards, "shard") + ", tolerance "
            + number_text(at.tolerance));
  site here(with, on, wanted);
  here.start_node();
  const auto campaign = here.send(recipients);
  const auto end = here.watch(campaign, std::chrono::milliseconds{500}).campaign;
  here.stop_node();
  const auto calls = here.ledger();
  const auto seen = judge_pace(calls, at.target());
  const auto mean = judge_pace(while_backlog_lasts(calls), at.target()).mean_per_second;
  add_figures(into, at, seen, mean.value_or(0), end);
  for (const auto& problem : problems_of(end, &seen))
    report.failures.push_back(std::string{at.name} + ": " + problem);
}

} // namespace

bench_report run_pace(stage& with) {
  bench_report report{"pace", with.options().full ? 3 : 1, {}, {}, {}};
  report.settings = {{"latency", "170 ms"}, {"settings", "4"}};
  if (with.options().quick)
    report.settings.emplace_back("quick", "a fifth of the recipients");
  cluster on;
  samples found;
  for (int run = 0; run < report.runs; ++run)
    for (const auto& at : settings)
      run_setting(with, on, at, found, report);
  report.figures = found.figures();
  return report;
}

} // namespace paceline::bench
