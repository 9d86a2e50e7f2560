/// Everything a node consists of, wired in the order of its life.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/node_health.hpp"
#include "actors/service.hpp"
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
  std::int32_t id_lane = 0; ///< for the ids of messages that the API takes in
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

/// What a node is given; all of it outlives the node.
struct node_surroundings {
  logger& log;
  metrics& measured;
  node_health& health;
  node_service& service;
  /// Called once, on a thread of the node, when an operator wants it to drain and end
  /// (`paceline node stop`); it must be quick.
  std::function<void()> stop_requested;
};

/// The running node. Owns pools, courier, actors and listener; construction starts them and opens
/// the service, and destruction stops them in the order that never hangs: service, listener,
/// courier, database threads, actors, actor system.
class running_node {
public:
  running_node(const settings& config, const node_identity& identity, node_surroundings around);
  ~running_node();

  /// Takes over what may change while it runs: the rates of its routes.
  void use_rates(const settings& config);
  /// Starts the drain and the end of the API; returns at once. To be called once.
  void drain();
  /// Waits for the end of the drain. False when it did not come within `patience`.
  bool wait_drained(std::chrono::milliseconds patience);

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
