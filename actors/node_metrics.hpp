/// What a node has and does not count itself: read whenever Prometheus asks.
///
/// Each function registers one thing and returns the hook that keeps it registered: let the hook
/// end before the thing does. `into` must outlive both. Any number of pools, counts and listeners
/// may be watched, from any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "actors/database_stores.hpp"
#include "actors/recorder.hpp"
#include "config/metrics.hpp"
#include "storage/pool.hpp"
#include "transport/courier.hpp"
#include "transport/http/server.hpp"

namespace paceline {

/// Queue and connections of one pool under the label `pool`; each name once.
[[nodiscard]] scrape_hook watch_pool(metrics& into, std::string name, const database_pool& pool);
/// Statements, errors and time by query name, added to those of all other counts.
[[nodiscard]] scrape_hook watch_statements(metrics& into, const statement_counts& counted);
/// All shards' pools together, as pool `shard`, and their statements.
[[nodiscard]] scrape_hook watch_shard_stores(metrics& into, const pool_store_directory& stores);
[[nodiscard]] scrape_hook watch_courier(metrics& into, const courier& sends);
[[nodiscard]] scrape_hook watch_backlog(metrics& into, const record_backlog& backlog);
/// One HTTP listener under its name (`api`, `feedback`, `admin`). `read` is `http_server::counts`.
[[nodiscard]] scrape_hook watch_listener(metrics& into, std::string name,
                                         std::function<listener_counts()> read);
[[nodiscard]] scrape_hook watch_process(metrics& into);

/// To be called after each request to the API with the pattern of its path (`/v1/messages/{id}`,
/// never the path itself), the answer's status and how long it took. Thread-safe.
using api_request_hook =
    std::function<void(std::string_view pattern, int status, nanoseconds length)>;
[[nodiscard]] api_request_hook count_api_requests(metrics& into);

/// For the recorder; `routes` by their text.
[[nodiscard]] recorder_instruments recorder_instruments_of(
    metrics& into, const std::map<route_id, std::string>& routes);

} // namespace paceline
