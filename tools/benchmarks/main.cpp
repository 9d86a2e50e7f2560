/// Runs benches by name: what tools/bench calls once everything is built.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/benchmarks/benches.hpp"
#include "tools/benchmarks/machine.hpp"

namespace paceline::bench {
namespace {

/// Those that take longer are no part of `all`, unless --full asks for them.
constexpr int longest_of_all_s = 120;

struct order {
  std::vector<std::string> names;
  stage_options options;
  bool as_json = false;
};

std::vector<bench_entry> chosen_benches(const order& wanted) {
  std::vector<bench_entry> chosen;
  for (const auto& name : wanted.names)
    for (const auto& entry : all_benches())
      if (name == entry.name
          || (name == "all" && (wanted.options.full || entry.seconds <= longest_of_all_s)))
        chosen.push_back(entry);
  return chosen;
}

/// Returns false where it could not be run to its end.
bool run_one(const bench_entry& entry, const order& wanted, const environment& on,
             std::vector<bench_report>& reports) {
  try {
    stage with(wanted.options);
    with.note(std::string{entry.name} + ": about " + std::to_string(entry.seconds) + " s");
    reports.push_back(entry.run(with));
  } catch (const interrupted&) {
    throw;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench: %s failed: %s\n", entry.name, failure.what());
    return false;
  }
  const auto& report = reports.back();
  for (const auto& problem : report.failures)
    std::fprintf(stderr, "bench: %s: %s\n", entry.name, problem.c_str());
  if (!wanted.as_json) {
    print(report_table(report, on, describe_terminal(1)) + "\n");
    std::fflush(stdout);
  }
  return report.failures.empty();
}

int run(const order& wanted) {
  const auto chosen = chosen_benches(wanted);
  const auto on = describe_environment();
  std::vector<bench_report> reports;
  bool fine = true;
  try {
    for (const auto& entry : chosen)
      fine = run_one(entry, wanted, on, reports) && fine;
  } catch (const interrupted&) {
    std::fputs("bench: interrupted; what was started is gone again\n", stderr);
    return exit_interrupted;
  }
  // One that failed leaves no object behind.
  if (wanted.as_json && (chosen.size() > 1 || !reports.empty()))
    print(reports_json(reports, on, chosen.size() > 1));
  return fine ? exit_fine : exit_failed;
}

} // namespace
} // namespace paceline::bench

int main(int argc, char** argv) {
  using namespace paceline;
  bench::order wanted;
  wanted.options.program = PACELINE_PROGRAM;
  CLI::App app{"Measures Paceline. tools/bench --help says what there is."};
  std::vector<std::string> known{"all"};
  for (const auto& entry : bench::all_benches())
    known.emplace_back(entry.name);
  app.add_option("bench", wanted.names, "Names, or all")->required()->check(CLI::IsMember(known));
  app.add_flag("--json", wanted.as_json, "One object per bench");
  auto* const quick = app.add_flag("--quick", wanted.options.quick, "Less of everything");
  app.add_flag("--full", wanted.options.full, "More runs, and long benches too")->excludes(quick);
  app.add_option("--minutes", wanted.options.minutes, "Of the outage of ses-down")
      ->check(CLI::Range(1, 120));
  app.add_option("--set", wanted.options.overrides, "key=value for paceline serve")
      ->allow_extra_args(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? exit_fine : exit_wrong_use;
  }
  return bench::run(wanted);
}
