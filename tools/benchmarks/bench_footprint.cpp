#include "tools/benchmarks/benches.hpp"

#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/site.hpp"

namespace paceline::bench {
namespace {

site_settings draining() {
  site_settings wanted;
  wanted.rate = 1e6;
  wanted.tolerance = 1000;
  wanted.latency_ms = wanted.jitter = 0;
  wanted.ledger = false;
  return wanted;
}

void add_use(samples& into, const std::string& when, const memory_use& use,
             std::optional<double> most) {
  std::optional<requirement> required;
  if (most)
    required = requirement{bound::at_most, *most};
  into.add("uss_" + when, "MiB", use.uss_mb, required);
  into.add("pss_" + when, "MiB", use.pss_mb);
  into.add("rss_" + when, "MiB", use.rss_mb);
}

memory_use idle_use(stage& with, cluster& on) {
  site here(with, on, draining());
  here.start_node();
  with.note("footprint: idle for 10 s");
  with.sleep(std::chrono::seconds{10});
  const auto use = memory_of(here.node_id());
  here.stop_node();
  return use;
}

/// The largest of every 50 ms while it drains what is queued already.
memory_use draining_use(stage& with, cluster& on, std::int64_t backlog, bench_report& report) {
  with.note("footprint: a backlog of " + grouped(backlog));
  site here(with, on, draining());
  const auto campaign = here.send(backlog);
  here.expand(campaign);
  database(here.dsn()).run("ANALYZE");
  here.start_node();
  memory_use most;
  const auto process = here.node_id();
  const auto end =
      here.watch(campaign, std::chrono::milliseconds{50},
                 [&most, process](const campaign_view&) { most.raise_to(memory_of(process)); });
  here.stop_node();
  for (const auto& problem : problems_of(end.campaign, nullptr))
    report.failures.push_back(problem);
  return most;
}

} // namespace

bench_report run_footprint(stage& with) {
  bench_report report{"footprint", with.options().full ? 3 : 1, {}, {}, {}};
  report.settings = {{"shards", "4"}, {"provider", "no latency, no ledger"}, {"sampled", "50 ms"}};
  cluster on;
  samples found;
  for (int run = 0; run < report.runs; ++run) {
    add_use(found, "idle_mb", idle_use(with, on), 8);
    const auto small = draining_use(with, on, 20'000, report);
    const auto large = draining_use(with, on, with.options().quick ? 40'000 : 100'000, report);
    add_use(found, "drain_mb", large, 48);
    add_use(found, "drain_20000_mb", small, std::nullopt);
    // Independent of the backlog: five times as much to do needs no more. A fifth is left to the
    // allocator's chance.
    found.add("uss_drain_growth", "", large.uss_mb / small.uss_mb,
              requirement{bound::at_most, 1.2});
  }
  report.figures = found.figures();
  return report;
}

} // namespace paceline::bench
