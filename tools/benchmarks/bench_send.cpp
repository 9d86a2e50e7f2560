#include "tools/benchmarks/benches.hpp"

#include <stdexcept>

#include "tools/benchmarks/api_bodies.hpp"
#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/http_load.hpp"
#include "tools/benchmarks/send_floor.hpp"
#include "tools/benchmarks/site.hpp"

namespace paceline::bench {
namespace {

load_settings sends(int port, int clients, const std::string& token, const stage& with) {
  load_settings load;
  load.port = port;
  load.clients = clients;
  load.length = std::chrono::milliseconds{with.options().quick ? 1000 : 4000};
  load.request = [token](std::int64_t number) {
    return request_text("/v1/send", token, send_body(number));
  };
  return load;
}

void check(const load_result& found, const std::string& what, bench_report& report) {
  if (found.refused != 0 || found.broken != 0)
    report.failures.push_back(what + ": " + std::to_string(found.refused) + " refused ("
                              + found.first_refusal + "), " + std::to_string(found.broken)
                              + " broken");
}

/// The floor and then Paceline, with the same clients on databases of their own.
void measure(stage& with, cluster& on, int clients, samples& into, bench_report& report) {
  const auto suffix = "_" + std::to_string(clients);
  {
    site place(with, on, {}); // for its migrated database
    send_floor floor(place.dsn(), clients);
    on.settle();
    with.note("send: floor with " + std::to_string(clients) + " clients");
    const auto found = run_load(with, sends(floor.port(), clients, "", with));
    check(found, "floor", report);
    into.add("floor_rate" + suffix, "1/s", found.rate());
  }
  site here(with, on, {});
  // The floor sends nothing; a paused route keeps the node from it too.
  database(here.dsn()).run("UPDATE routes SET state = 'paused'");
  here.start_node();
  const auto token = here.make_key();
  on.settle();
  with.note("send: " + std::to_string(clients) + " clients");
  const auto found = run_load(with, sends(here.api_port(), clients, token, with));
  check(found, "send", report);
  const auto stored = database(here.dsn()).run("SELECT count(*) FROM message_states").integer(0, 0);
  if (stored != found.fine)
    report.failures.push_back(std::to_string(found.fine) + " answers of 202, "
                              + std::to_string(stored) + " messages");
  here.stop_node();
  const auto p50 = quantile(found.latencies, 0.5), p99 = quantile(found.latencies, 0.99);
  into.add("rate" + suffix, "1/s", found.rate());
  into.add("p50_ms" + suffix, "ms", p50 * 1e3);
  into.add("p99_ms" + suffix, "ms", p99 * 1e3);
  into.add("p99_over_p50" + suffix, "", p99 / p50, requirement{bound::at_most, 10});
}

} // namespace

bench_report run_send(stage& with) {
  bench_report report{"send", with.options().quick ? 1 : with.options().full ? 7 : 3, {}, {}, {}};
  report.settings = {{"clients", "8 and 64, keep-alive"},
                     {"floor", "cpp-httplib, a thread and a connection for each client, the same "
                               "rows by one statement"}};
  cluster on;
  samples found;
  for (int run = 0; run < report.runs; ++run)
    for (const int clients : {8, 64})
      measure(with, on, clients, found, report);
  for (auto one : found.figures()) {
    if (one.name.starts_with("rate_")) {
      one.floor = found.of("floor_" + one.name)->median;
      one.required = requirement{bound::at_least, 0.75, true};
    }
    report.figures.push_back(one);
  }
  // The name that others rely on: the busier one.
  for (const auto& one : report.figures)
    if (one.name == "rate_64") {
      auto headline = one;
      headline.name = "rate";
      report.figures.insert(report.figures.begin(), headline);
      break;
    }
  return report;
}

} // namespace paceline::bench
