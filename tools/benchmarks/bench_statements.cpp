#include "tools/benchmarks/benches.hpp"

#include <optional>
#include <stdexcept>

#include "tools/benchmarks/site.hpp"
#include "tools/benchmarks/statement_counter.hpp"

namespace paceline::bench {
namespace {

struct load {
  const char* name;
  double rate;
  int seconds;
  double allowed; ///< statements per message
};

constexpr load loads[] = {{"100", 100, 20, 0.4}, {"2000", 2000, 10, 0.1}};

/// What was counted at one look.
struct look {
  std::int64_t statements = 0, recorded = 0;
};

void run_load(stage& with, cluster& on, const load& at, samples& into, bench_report& report) {
  with.note("statements: " + number_text(at.rate) + "/s for " + std::to_string(at.seconds) + " s");
  site_settings wanted;
  wanted.rate = at.rate;
  wanted.ledger = false;
  wanted.node_role = counted_role;
  site here(with, on, wanted);
  statement_counter counter(here.dsn());
  here.start_node();
  const auto idle_before = counter.count();
  with.sleep(std::chrono::seconds{2});
  into.add(std::string{"idle_statements_per_second_"} + at.name, "1/s",
           static_cast<double>(counter.count() - idle_before) / 2);
  // A second at both ends belongs to no look: there the pace is not steady.
  const auto recipients = static_cast<std::int64_t>(at.rate * (at.seconds + 2));
  const auto campaign = here.send(recipients);
  std::optional<look> first, last;
  const auto end =
      here.watch(campaign, std::chrono::milliseconds{100},
                 [&first, &last, &counter, &at, recipients](const campaign_view& now) {
                   const auto done = static_cast<double>(now.accepted);
                   if (done < at.rate || done > static_cast<double>(recipients) - at.rate)
                     return;
                   last = look{counter.count(), now.accepted};
                   if (!first)
                     first = last;
                 });
  here.stop_node();
  if (!first || last->recorded <= first->recorded)
    throw std::runtime_error("the run was too short to be looked at twice");
  into.add(std::string{"statements_per_message_"} + at.name, "",
           static_cast<double>(last->statements - first->statements)
               / static_cast<double>(last->recorded - first->recorded),
           requirement{bound::at_most, at.allowed});
  for (const auto& [calls, text] : counter.most_frequent())
    with.note("  " + grouped(calls) + " x " + text);
  for (const auto& problem : problems_of(end.campaign, nullptr))
    report.failures.push_back(std::string{at.name} + "/s: " + problem);
}

} // namespace

bench_report run_statements(stage& with) {
  bench_report report{"statements", with.options().full ? 3 : 1, {}, {}, {}};
  report.settings = {{"shards", "4"}, {"latency", "170 ms"}};
  cluster on({statement_counting});
  make_counted_role(on);
  samples found;
  for (int run = 0; run < report.runs; ++run)
    for (const auto& at : loads)
      run_load(with, on, at, found, report);
  report.figures = found.figures();
  return report;
}

} // namespace paceline::bench
