#include "tools/benchmarks/benches.hpp"

#include "tools/benchmarks/site.hpp"
#include "tools/benchmarks/statement_counter.hpp"

namespace paceline::bench {
namespace {

constexpr requirement none{bound::at_most, 0, false, true};
constexpr requirement within_a_second{bound::at_most, 1};

void add_figures(samples& into, const site_settings& wanted, const campaign_report& end,
                 const pace_figures& seen) {
  const auto& campaign = end.campaign;
  const auto curve = figures_of(end.dispatched, std::nullopt);
  into.add("rate", "1/s", seen.mean_per_second.value_or(0), requirement{bound::at_least, 3000});
  into.add("rate_median", "1/s", curve.median.value_or(0));
  into.add("rate_p90", "1/s", curve.p90.value_or(0));
  into.add("rate_peak", "1/s", static_cast<double>(curve.peak));
  into.add("worst_window_excess", "", seen.worst_window_excess,
           requirement{bound::at_most, 2, false, true});
  into.add("idle_seconds", "s", static_cast<double>(curve.idle_seconds), none);
  into.add("start_latency", "s", campaign.first_start_s.value_or(0), within_a_second);
  // The ledger knows when calls started; their last answer came a latency later.
  const double last_outcome = campaign.last_start_s.value_or(0) + wanted.latency_ms / 1000;
  into.add("recorded_after_last_outcome", "s", campaign.last_record_s.value_or(0) - last_outcome,
           within_a_second);
  into.add("request_to_all_recorded", "s", campaign.last_record_s.value_or(0));
  into.add("stranded", "", static_cast<double>(campaign.open), none);
  into.add("unknown", "", static_cast<double>(campaign.unknown), none);
  into.add("duplicates", "", static_cast<double>(seen.repeats), none);
}

void run_once(stage& with, cluster& on, std::int64_t recipients, samples& into,
              bench_report& report) {
  site_settings wanted;
  wanted.node_role = counted_role;
  site here(with, on, wanted);
  statement_counter statements(here.dsn());
  here.start_node();
  // A new route's first target starts 1.25 s ahead; asked for is what a running node does.
  with.sleep(std::chrono::seconds{3});
  const auto before = statements.count();
  const auto campaign = here.send(recipients);
  const auto end = here.watch(campaign, std::chrono::milliseconds{250});
  const auto used = statements.count() - before;
  here.stop_node();
  const auto seen = judge_pace(here.ledger(), wanted.rate);
  add_figures(into, wanted, end, seen);
  into.add("statements_per_message", "",
           static_cast<double>(used) / static_cast<double>(recipients));
  for (const auto& problem : problems_of(end.campaign, &seen))
    report.failures.push_back(problem);
}

} // namespace

bench_report run_campaign(stage& with) {
  bench_report report{"campaign",
                      with.options().quick  ? 1
                      : with.options().full ? 7
                                            : 3,
                      {},
                      {},
                      {}};
  const std::int64_t recipients = 10'000;
  report.settings = {{"recipients", grouped(recipients)},
                     {"latency", "170 ms"},
                     {"quota", "5,000/s"},
                     {"shards", "4"}};
  cluster on({statement_counting});
  make_counted_role(on);
  samples found;
  for (int run = 1; run <= report.runs; ++run) {
    with.note("campaign: run " + std::to_string(run) + " of " + std::to_string(report.runs));
    run_once(with, on, recipients, found, report);
  }
  report.figures = found.figures();
  return report;
}

} // namespace paceline::bench
