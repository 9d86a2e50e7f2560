/// Everything a node consists of, wired in the order of its life.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/logging.hpp"
#include "config/metrics.hpp"
#include "config/settings.hpp"
#include "storage/model/ids.hpp"
#include "storage/result.hpp"

namespace paceline {

/// What the database said at the start.
struct node_identity {
  node_id id;
  std::string name;
  struct served_route {
    route_id id;
    std::string text;
    route_settings how;
  };
  std::vector<served_route> routes;
};

/// Checks the server and the schema, registers the node and seeds the routes. Error: why the node
/// can't start and what to do.
result<node_identity> enter_database(const settings& config, std::string_view version, logger& log);

/// The running node. Owns pools, courier, actors and listener; construction starts them, and
/// destruction stops them in the order that never hangs: listener, courier, database threads,
/// actors, actor system.
class running_node {
public:
  /// `measured` outlives the node.
  running_node(const settings& config, const node_identity& identity, logger& log,
               metrics& measured);
  ~running_node();

  /// Starts the drain; returns at once.
  void drain();
  /// Waits for the end of the drain. False when it did not come within `patience`.
  bool wait_drained(std::chrono::milliseconds patience);

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
