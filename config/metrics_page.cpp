#include "config/metrics_page.hpp"

#include <vector>

#include "config/metric_list.hpp"

namespace paceline {
namespace {

using namespace metric;

struct chapter {
  std::string_view title;
  std::vector<const metric_family*> families;
};

const std::vector<chapter>& chapters() {
  static const std::vector<chapter> all{
      {"Messages", {&messages, &messages_skipped, &group_size}},
      {"Slots and calls",
       {&slots_used, &slots_late, &slots_lost, &start_lateness, &orders_waiting, &calls_in_flight,
        &call_seconds}},
      {"Pace",
       {&target_rate, &share_rate, &quota_rate, &daily_quota, &daily_sent, &daily_grant_left,
        &braked, &refusals, &route_state, &breaker}},
      {"Ownership", {&shards, &shards_owned, &clock_error}},
      {"Database",
       {&outcomes_waiting, &record_batch_size, &statements, &statement_errors, &statement_seconds,
        &database_queue, &database_connections, &database_connections_busy}},
      {"Requests",
       {&http_connections, &http_threads_busy, &http_requests, &http_refused_connections,
        &http_timed_out, &http_too_large, &api_requests, &api_seconds, &intake_group_size}},
      {"Process",
       {&process_resident, &process_open_fds, &process_max_fds, &process_threads, &process_cpu,
        &process_start}},
  };
  return all;
}

std::string_view name(metric_type type) {
  switch (type) {
  case metric_type::counter:
    return "counter";
  case metric_type::gauge:
    return "gauge";
  case metric_type::histogram:
    return "histogram";
  }
  return {};
}

std::string row_of(const metric_family& family) {
  std::string row{"| `"};
  row.append(family.name).append("` | ").append(name(family.type)).append(" | ");
  std::string_view between;
  for (auto label : {family.labels.first, family.labels.second}) {
    if (label.empty())
      continue;
    row.append(between).append("`").append(label).append("`");
    between = ", ";
  }
  row.append(" | ").append(family.meaning).append(" | ").append(family.watch).append(" |\n");
  return row;
}

constexpr std::string_view preface =
    R"(# Metrics

<!-- Made from the list in config/metric_list.hpp; a test keeps it current. Don't edit. -->

Every node shows its own numbers at `GET /metrics` of the admin listener, in Prometheus' text
format. Counters begin at 0 with the process. Durations are in seconds, sizes in bytes, rates in
recipients per second. `route` is `environment:region`. A label holds what is configured or written
in the program, never an address, an id or a key; a family has at most 200 series, and what comes
later is counted where all labels say `other`. A series appears when there is something to count.

Slots, rates and quota count recipients, everything else counts messages.
)";

struct alert {
  std::string_view when, because;
};

constexpr std::array alerts{
    alert{"sum by (route) (paceline_shards_owned) < max by (route) (paceline_shards)` for `30s",
          "nobody runs a shard: its messages wait"},
    alert{"increase(paceline_messages_total{outcome=\"unknown\"}[5m]) > 0",
          "somebody has to look at these messages"},
    alert{"paceline_route_state{state=\"stopped\"} == 1",
          "the provider refuses to send for this account"},
    alert{"sum by (route) (paceline_breaker{state!=\"closed\"}) > 0` for `1m",
          "the provider does not answer"},
    alert{"rate(paceline_slots_lost_total[5m]) > 0.003 * rate(paceline_slots_used_total[5m])",
          "the node stalls"},
    alert{"paceline_clock_error_seconds > 0.003` for `10s", "the node starts nothing"},
    alert{"paceline_outcomes_waiting > 5000` for `1m", "the database does not keep up, or is away"},
    alert{"paceline_daily_sent > 0.9 * paceline_daily_quota", "the day's quota is nearly used up"},
    alert{"rate(paceline_api_requests_total{status=\"5xx\"}[5m]) > 0",
          "clients get errors that are ours"},
};

constexpr std::string_view afterword = R"(
`rate(paceline_slots_used_total[1m]) / paceline_share_rate` is how much of its rate a node uses:
near 1 while messages are due.
)";

} // namespace

std::span<const metric_family* const> all_metrics() {
  static const auto all = [] {
    std::vector<const metric_family*> gathered;
    for (const auto& each : chapters())
      gathered.insert(gathered.end(), each.families.begin(), each.families.end());
    return gathered;
  }();
  return all;
}

std::string render_metrics_page() {
  std::string page{preface};
  for (const auto& each : chapters()) {
    page.append("\n## ").append(each.title).append("\n\n");
    page.append("| metric | type | labels | meaning | look when |\n");
    page.append("| --- | --- | --- | --- | --- |\n");
    for (const auto* family : each.families)
      page += row_of(*family);
  }
  page.append("\n## Alerts to begin with\n\n| when | because |\n| --- | --- |\n");
  for (const auto& each : alerts)
    page.append("| `").append(each.when).append("` | ").append(each.because).append(" |\n");
  return page.append(afterword);
}

} // namespace paceline
