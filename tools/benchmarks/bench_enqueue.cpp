#include "tools/benchmarks/benches.hpp"

#include "tools/benchmarks/api_bodies.hpp"
#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/http_load.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/send_floor.hpp"
#include "tools/benchmarks/site.hpp"

namespace paceline::bench {
namespace {

constexpr std::int64_t per_call = 5000;

/// Requests made before the clock runs: building them is the client's work.
std::vector<std::string> requests(std::int64_t calls, const std::string& token) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < calls; ++i)
    all.push_back(request_text("/v1/batch", token, batch_body(1 + i * per_call, per_call)));
  return all;
}

void measure(stage& with, cluster& on, std::int64_t calls, int at_once, samples& into,
             bench_report& report) {
  const auto suffix = "_" + std::to_string(at_once);
  const auto messages = calls * per_call;
  {
    site place(with, on, {});
    on.settle();
    with.note("enqueue: floor, " + std::to_string(at_once) + " calls at once");
    into.add("floor_rate" + suffix, "1/s",
             run_batch_floor(place.dsn(), messages, per_call, at_once));
  }
  site here(with, on, {});
  database(here.dsn()).run("UPDATE routes SET state = 'paused'");
  here.start_node();
  const auto all = requests(calls, here.make_key());
  load_settings load;
  load.port = here.api_port();
  load.clients = at_once;
  load.length = std::chrono::minutes{5};
  load.most_requests = calls;
  load.request = [&all](std::int64_t number) { return all[static_cast<std::size_t>(number)]; };
  memory_use most;
  load.on_answer = [&most, process = here.node_id()](std::int64_t, int, std::string_view) {
    most.raise_to(memory_of(process));
  };
  on.settle();
  with.note("enqueue: " + std::to_string(at_once) + " calls at once");
  const auto found = run_load(with, load);
  const auto stored = database(here.dsn()).run("SELECT count(*) FROM message_states").integer(0, 0);
  if (found.refused != 0 || found.broken != 0 || stored != messages)
    report.failures.push_back(std::to_string(stored) + " of " + std::to_string(messages)
                              + " messages are stored; " + std::to_string(found.refused)
                              + " calls refused (" + found.first_refusal + "), "
                              + std::to_string(found.broken) + " broken");
  here.stop_node();
  into.add("rate" + suffix, "1/s", found.rate() * static_cast<double>(per_call));
  into.add("call_p50_ms" + suffix, "ms", quantile(found.latencies, 0.5) * 1e3);
  into.add("uss_accept_mb" + suffix, "MiB", most.uss_mb);
}

} // namespace

bench_report run_enqueue(stage& with) {
  bench_report report{"enqueue",
                      with.options().quick  ? 1
                      : with.options().full ? 7
                                            : 3,
                      {},
                      {},
                      {}};
  const std::int64_t calls = with.options().quick ? 8 : 40;
  report.settings = {{"calls", std::to_string(calls) + " of 5,000 recipients, one content"},
                     {"floor", "libpq, the same rows, as many connections as calls at once"}};
  cluster on;
  samples found;
  for (int run = 0; run < report.runs; ++run)
    for (const int at_once : {1, 4})
      measure(with, on, calls, at_once, found, report);
  for (auto one : found.figures()) {
    if (one.name.starts_with("rate_")) {
      one.floor = found.of("floor_" + one.name)->median;
      one.required = requirement{bound::at_least, 0.75, true};
    }
    report.figures.push_back(one);
  }
  return report;
}

} // namespace paceline::bench
