#include "tools/benchmarks/benches.hpp"

#include <stdexcept>

#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/floor_loop.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/site.hpp"

namespace paceline::bench {
namespace {

/// Messages per second from the first start to the last record, with all of them queued before.
double drain_once(stage& with, cluster& on, std::int64_t messages, samples& into,
                  bench_report& report) {
  site_settings wanted;
  wanted.rate = 1e6;
  wanted.tolerance = 1000;
  wanted.latency_ms = wanted.jitter = 0;
  wanted.ledger = false;
  site here(with, on, wanted);
  const auto campaign = here.send(messages);
  here.expand(campaign);
  database(here.dsn()).run("ANALYZE");
  on.settle();
  here.start_node();
  const auto cpu_before = cpu_seconds_of(here.node_id());
  // Seldom, so that the looking costs nothing: the figures come from the counters.
  const auto end = here.watch(campaign, std::chrono::milliseconds{200}).campaign;
  into.add("node_cpu_per_message", "us",
           (cpu_seconds_of(here.node_id()) - cpu_before) * 1e6 / static_cast<double>(messages));
  here.stop_node();
  for (const auto& problem : problems_of(end, nullptr))
    report.failures.push_back(problem);
  if (!end.first_start_s || !end.last_record_s || *end.last_record_s <= *end.first_start_s)
    throw std::runtime_error("the campaign has no first start or no last record");
  return static_cast<double>(messages) / (*end.last_record_s - *end.first_start_s);
}

} // namespace

bench_report run_drain(stage& with) {
  bench_report report{"drain", with.options().quick ? 1 : with.options().full ? 7 : 3, {}, {}, {}};
  const std::int64_t messages = with.options().quick ? 20'000 : 100'000;
  report.settings = {{"messages", grouped(messages)},
                     {"provider", "no latency, no ledger"},
                     {"shards", "4"},
                     {"floor", "libpq, 4 connections, groups of 100"}};
  cluster on;
  floor_settings least;
  with.note("drain: warming up");
  least.messages = 20'000;
  run_floor(on, least);
  least.messages = messages;
  samples found;
  for (int run = 1; run <= report.runs; ++run) {
    const auto count = std::to_string(run) + " of " + std::to_string(report.runs);
    with.note("drain: floor " + count);
    found.add("floor_rate", "1/s", run_floor(on, least));
    with.note("drain: run " + count);
    found.add("rate", "1/s", drain_once(with, on, messages, found, report));
  }
  for (auto one : found.figures()) {
    if (one.name == "rate") {
      one.floor = found.of("floor_rate")->median;
      one.required = requirement{bound::at_least, 0.5, true};
      report.figures.insert(report.figures.begin(), one);
    } else {
      report.figures.push_back(one);
    }
  }
  return report;
}

bench_report run_floor_alone(stage& with) {
  bench_report report{"floor", with.options().quick ? 1 : with.options().full ? 7 : 3, {}, {}, {}};
  floor_settings least;
  report.settings = {{"messages", grouped(least.messages)}, {"connections", "4"}, {"group", "100"}};
  cluster on;
  samples found;
  for (int run = 1; run <= report.runs; ++run) {
    with.note("floor: run " + std::to_string(run) + " of " + std::to_string(report.runs));
    found.add("floor_rate", "1/s", run_floor(on, least));
    with.sleep(std::chrono::milliseconds{0});
  }
  report.figures = found.figures();
  return report;
}

} // namespace paceline::bench
