#include "tools/benchmarks/benches.hpp"

#include <optional>

#include "tools/benchmarks/api_bodies.hpp"
#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/http_load.hpp"
#include "tools/benchmarks/site.hpp"
#include "tools/benchmarks/slow_clients.hpp"

namespace paceline::bench {
namespace {

constexpr int slow_ones = 64;

/// What one normal client reaches.
load_result normal(stage& with, const site& here, const std::string& token) {
  load_settings load;
  load.port = here.api_port();
  load.length = std::chrono::milliseconds{with.options().quick ? 1000 : 4000};
  load.request = [&token](std::int64_t number) {
    return request_text("/v1/send", token, send_body(number));
  };
  return run_load(with, load);
}

/// Health on both listeners, every 20 ms: the slowest answer in milliseconds.
double slowest_health(stage& with, const site& here) {
  double slowest = 0;
  for (const int port : {here.api_port(), here.admin_port()}) {
    load_settings load;
    load.port = port;
    load.length = std::chrono::milliseconds{2000};
    load.pause = std::chrono::milliseconds{20};
    load.request = [](std::int64_t) { return request_text("/v1/health/live", ""); };
    const auto found = run_load(with, load);
    slowest = std::max(slowest, quantile(found.latencies, 1) * 1e3);
  }
  return slowest;
}

} // namespace

bench_report run_clients(stage& with) {
  bench_report report{"clients", with.options().quick ? 1 : 3, {}, {}, {}};
  report.settings = {{"slow clients", "64, a byte every 50 ms, half in headers, half in bodies"}};
  cluster on;
  samples found;
  for (int run = 0; run < report.runs; ++run) {
    site here(with, on, {});
    database(here.dsn()).run("UPDATE routes SET state = 'paused'");
    here.start_node();
    const auto token = here.make_key();
    normal(with, here, token); // warms caches and statements up
    with.note("clients: one normal client alone");
    const auto alone = normal(with, here, token);
    std::optional<slow_clients> crowd;
    crowd.emplace(here.api_port(), slow_ones, std::chrono::milliseconds{50});
    with.sleep(std::chrono::milliseconds{1000});
    with.note("clients: beside 64 slow ones");
    const auto beside = normal(with, here, token);
    const auto health = slowest_health(with, here);
    crowd.reset();
    here.stop_node();
    if (alone.refused + alone.broken + beside.refused + beside.broken != 0)
      report.failures.push_back("requests failed: " + alone.first_refusal + beside.first_refusal);
    found.add("alone", "1/s", alone.rate());
    found.add("beside", "1/s", beside.rate());
    found.add("share", "", beside.rate() / alone.rate(), requirement{bound::at_least, 0.8});
    found.add("health_slowest_ms", "ms", health, requirement{bound::at_most, 100});
  }
  report.figures = found.figures();
  return report;
}

} // namespace paceline::bench
