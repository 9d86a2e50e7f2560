/// The service around a node: its listeners, and what answers on them.
///
/// The listeners are bound before the node enters the database, so that an address in use is said
/// before anything is claimed; until the node runs the API answers 503. On the way out the API ends
/// first and the admin listener last.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/node_health.hpp"
#include "config/logging.hpp"
#include "config/metrics.hpp"
#include "config/settings.hpp"
#include "storage/pool.hpp"
#include "storage/result.hpp"
#include "transport/api/ports.hpp"
#include "transport/mail/unsubscribe_link.hpp"

namespace paceline {

/// What a running node gives its API. All of it outlives `close`.
struct service_parts {
  std::int32_t id_lane = 0; ///< of its own
  statement_counts& counts;
  wake_route_function wake;
  std::shared_ptr<const unsubscribe_links> links; ///< null: none are configured
};

/// Owned by `main`, which outlives the node with it. Thread-safe where a function says so.
class node_service {
public:
  /// Binds and listens. Error: the address or file that can't be used.
  static result<std::unique_ptr<node_service>> listen(const settings& config, logger& log,
                                                      metrics& numbers, node_health& health);
  ~node_service(); ///< ends the admin listener, too

  /// From here on requests are answered.
  void open(service_parts parts);
  /// Ends the API and feedback listeners and everything that used the parts: within 2 s, or when
  /// the last request that waits for the database has its answer. Idempotent; not thread-safe.
  void close();

  /// Names and addresses of those that listen, for the log: {"api", "127.0.0.1:8700"}.
  std::vector<log_field> addresses() const;
  /// Reads all certificates again. What can't be used is logged and stays as it was. Thread-safe.
  void reload_tls();

private:
  class impl;
  explicit node_service(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
