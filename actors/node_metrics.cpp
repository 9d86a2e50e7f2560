#include "actors/node_metrics.hpp"

#include <limits>
#include <utility>

#include "config/metric_list.hpp"
#include "config/process_figures.hpp"

namespace paceline {
namespace {

using counted_queries = std::map<std::string, statement_counts::entry, std::less<>>;

/// Adds what has come since the last time, so that several sources make one sum.
class statement_sums {
public:
  explicit statement_sums(metrics& into) : into_(into) {}

  void take(const counted_queries& fresh) {
    for (const auto& [query, now] : fresh) {
      auto& before = seen_[query];
      const auto time = std::chrono::duration<double>(now.time - before.time).count();
      into_.get(metric::statements, {query})
          .add(static_cast<double>(now.statements - before.statements));
      into_.get(metric::statement_seconds, {query}).add(time);
      if (now.errors > 0)
        into_.get(metric::statement_errors, {query})
            .add(static_cast<double>(now.errors - before.errors));
      before = now;
    }
  }

private:
  metrics& into_;
  counted_queries seen_;
};

struct pool_gauges {
  gauge queue, connections, busy;

  pool_gauges(metrics& into, std::string_view name)
      : queue(into.get(metric::database_queue, {name})),
        connections(into.get(metric::database_connections, {name})),
        busy(into.get(metric::database_connections_busy, {name})) {}
};

std::string_view class_of(int status) {
  constexpr std::array<std::string_view, 5> classes{"1xx", "2xx", "3xx", "4xx", "5xx"};
  return status >= 100 && status < 600 ? classes.at(static_cast<std::size_t>(status / 100 - 1))
                                       : "other";
}

} // namespace

scrape_hook watch_pool(metrics& into, std::string name, const database_pool& pool) {
  return into.on_scrape([&pool, shown = pool_gauges{into, name}] {
    shown.queue.set(static_cast<double>(pool.queued()));
    shown.connections.set(pool.connections());
    shown.busy.set(pool.busy());
  });
}

scrape_hook watch_statements(metrics& into, const statement_counts& counted) {
  return into.on_scrape(
      [&counted, sums = statement_sums{into}]() mutable { sums.take(counted.snapshot()); });
}

scrape_hook watch_shard_stores(metrics& into, const pool_store_directory& stores) {
  return into.on_scrape(
      [&stores, shown = pool_gauges{into, "shard"}, sums = statement_sums{into}]() mutable {
        double queue = 0, connections = 0, busy = 0;
        counted_queries all;
        stores.visit([&queue, &connections, &busy, &all](const pool_shard_store& store) {
          queue += static_cast<double>(store.pool().queued());
          connections += store.pool().connections();
          busy += store.pool().busy();
          for (const auto& [query, counted] : store.counted().snapshot()) {
            auto& sum = all[query];
            sum.statements += counted.statements;
            sum.errors += counted.errors;
            sum.time += counted.time;
          }
        });
        shown.queue.set(queue);
        shown.connections.set(connections);
        shown.busy.set(busy);
        sums.take(all);
      });
}

scrape_hook watch_courier(metrics& into, const courier& sends) {
  return into.on_scrape([&sends, waiting = into.get(metric::orders_waiting)] {
    waiting.set(static_cast<double>(sends.gauges().waiting));
  });
}

scrape_hook watch_backlog(metrics& into, const record_backlog& backlog) {
  return into.on_scrape([&backlog, waiting = into.get(metric::outcomes_waiting)] {
    waiting.set(static_cast<double>(backlog.waiting()));
  });
}

scrape_hook watch_listener(metrics& into, std::string name, std::function<listener_counts()> read) {
  struct shown {
    gauge connections, busy;
    counter requests, refused, timed_out, too_large;
  };
  const shown show{into.get(metric::http_connections, {name}),
                   into.get(metric::http_threads_busy, {name}),
                   into.get(metric::http_requests, {name}),
                   into.get(metric::http_refused_connections, {name}),
                   into.get(metric::http_timed_out, {name}),
                   into.get(metric::http_too_large, {name})};
  return into.on_scrape([read = std::move(read), show] {
    const auto now = read();
    show.connections.set(static_cast<double>(now.connections));
    show.busy.set(static_cast<double>(now.busy_threads));
    show.requests.raise_to(static_cast<double>(now.requests));
    show.refused.raise_to(static_cast<double>(now.refused_connections));
    show.timed_out.raise_to(static_cast<double>(now.timed_out));
    show.too_large.raise_to(static_cast<double>(now.too_large));
  });
}

scrape_hook watch_process(metrics& into) {
  struct shown {
    gauge resident, descriptors, max_descriptors, threads, start;
    counter cpu;
  };
  const shown show{into.get(metric::process_resident), into.get(metric::process_open_fds),
                   into.get(metric::process_max_fds),  into.get(metric::process_threads),
                   into.get(metric::process_start),    into.get(metric::process_cpu)};
  return into.on_scrape([show] {
    const auto now = read_process_figures();
    if (!now)
      return;
    show.resident.set(static_cast<double>(now->resident_bytes));
    show.descriptors.set(static_cast<double>(now->open_descriptors));
    show.max_descriptors.set(now->max_descriptors < 0 ? std::numeric_limits<double>::infinity()
                                                      : static_cast<double>(now->max_descriptors));
    show.threads.set(static_cast<double>(now->threads));
    show.start.set(now->started_at);
    show.cpu.raise_to(now->cpu_seconds);
  });
}

api_request_hook count_api_requests(metrics& into) {
  return [&into](std::string_view pattern, int status, nanoseconds length) {
    into.get(metric::api_requests, {pattern, class_of(status)}).add();
    into.get(metric::api_seconds, {pattern}).observe(length);
  };
}

recorder_instruments recorder_instruments_of(metrics& into,
                                             const std::map<route_id, std::string>& routes) {
  recorder_instruments made;
  made.batch_size = into.get(metric::record_batch_size);
  for (const auto& [id, text] : routes)
    for (std::size_t kind = 0; kind < outcome_kinds; ++kind)
      made.messages[id][kind] =
          into.get(metric::messages, {text, name(static_cast<outcome_kind>(kind))});
  return made;
}

} // namespace paceline
