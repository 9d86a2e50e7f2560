/// The benches by name. Each makes what it needs, measures, and takes it down again.
#pragma once

#include <span>

#include "tools/benchmarks/figures.hpp"
#include "tools/benchmarks/stage.hpp"

namespace paceline::bench {

struct bench_entry {
  const char* name;
  int seconds; ///< about how long it takes; those above 120 are no part of `all`
  bench_report (*run)(stage&);
};

/// In the order in which `all` runs them.
std::span<const bench_entry> all_benches();

/// Throws where a run could not be finished; a run that ended wrongly (somebody not accepted
/// exactly once) is a failure in the report.
bench_report run_pace(stage& with);
bench_report run_campaign(stage& with);
bench_report run_drain(stage& with);
bench_report run_footprint(stage& with);
bench_report run_statements(stage& with);
bench_report run_floor_alone(stage& with);
bench_report run_enqueue(stage& with);
bench_report run_send(stage& with);
bench_report run_clients(stage& with);
bench_report run_direct(stage& with);
bench_report run_compose(stage& with);
bench_report run_ses(stage& with);
bench_report run_ses_hang(stage& with);
bench_report run_ses_cut(stage& with);
bench_report run_ses_down(stage& with);

} // namespace paceline::bench
