#include "tools/benchmarks/benches.hpp"

#include <map>
#include <stdexcept>

#include "tools/benchmarks/api_bodies.hpp"
#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/http_load.hpp"
#include "tools/benchmarks/site.hpp"

namespace paceline::bench {
namespace {

constexpr double rate = 1000;
constexpr std::int64_t per_call = 5000;

void load_backlog(stage& with, const site& here, const std::string& token, std::int64_t messages,
                  bench_report& report) {
  load_settings load;
  load.port = here.api_port();
  load.clients = 2;
  load.length = std::chrono::minutes{10};
  load.most_requests = messages / per_call;
  load.request = [&token](std::int64_t number) {
    return request_text("/v1/batch", token, batch_body(1 + number * per_call, per_call));
  };
  const auto found = run_load(with, load);
  if (found.fine * per_call != messages)
    report.failures.push_back("the backlog was not taken: " + found.first_refusal);
}

/// Sends single messages and returns the delay of each, in seconds: from its 202 to its start.
std::vector<double> direct_delays(stage& with, const site& here, const std::string& token,
                                  std::int64_t messages) {
  std::map<std::string, double> answered; // by id, on the wall clock, which is the database's too
  load_settings load;
  load.port = here.api_port();
  load.length = std::chrono::minutes{5};
  load.most_requests = messages;
  load.pause = std::chrono::milliseconds{37}; // no multiple of a group's 250 ms
  load.request = [&token](std::int64_t number) {
    return request_text("/v1/send", token, send_body(number));
  };
  load.on_answer = [&answered](std::int64_t, int, std::string_view body) {
    const auto at = body.find("\"id\":\"") + 6;
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    answered[std::string{body.substr(at, body.find('"', at) - at)}] = now.count();
  };
  run_load(with, load);
  with.sleep(std::chrono::milliseconds{2000});
  const auto started =
      database(here.dsn())
          .run("SELECT s.id, extract(epoch FROM s.started_at) FROM message_states s JOIN streams t "
               "ON t.id = s.stream WHERE t.priority = 0 AND s.started_at IS NOT NULL");
  std::vector<double> delays;
  for (int i = 0; i < started.count(); ++i)
    delays.push_back(started.number(i, 1) - answered.at(started.text(i, 0)));
  if (static_cast<std::int64_t>(delays.size()) != messages)
    throw std::runtime_error(std::to_string(delays.size()) + " of " + std::to_string(messages)
                             + " direct messages have started");
  return delays;
}

} // namespace

bench_report run_direct(stage& with) {
  bench_report report{"direct", 1, {}, {}, {}};
  const std::int64_t backlog = with.options().quick ? 50'000 : 1'000'000;
  const std::int64_t messages = with.options().quick ? 100 : 500;
  report.settings = {{"waiting", grouped(backlog) + " by /v1/batch"},
                     {"target", "1,000/s, 4 shards: a slot of a shard every 4 ms"},
                     {"direct", grouped(messages) + " by /v1/send, one at a time"}};
  cluster on;
  site_settings wanted;
  wanted.rate = rate;
  wanted.ledger = false;
  site here(with, on, wanted);
  here.start_node();
  const auto token = here.make_key();
  with.note("direct: loading " + grouped(backlog));
  load_backlog(with, here, token, backlog, report);
  with.note("direct: sending");
  const auto delays = direct_delays(with, here, token, messages);
  here.stop_node();
  samples found;
  const double slot_ms = 4 * 1e3 / rate;
  found.add("start_p50_ms", "ms", quantile(delays, 0.5) * 1e3);
  found.add("start_p99_ms", "ms", quantile(delays, 0.99) * 1e3,
            requirement{bound::at_most, 200 + slot_ms});
  found.add("start_max_ms", "ms", quantile(delays, 1) * 1e3);
  report.figures = found.figures();
  return report;
}

} // namespace paceline::bench
