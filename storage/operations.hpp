/// What operators do to routes and nodes while everything runs.
///
/// Each change and its row in the audit log are one transaction. Nodes hear of it by a wake-up
/// (storage/wake_listener.hpp) or at the latest by their next renewal. All functions block and may
/// be repeated after any error; a repeat writes another audit row. `actor` is who did it, such as
/// cli:anna@host.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/rate.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// Stops the route, whatever state it is in, until `resume_route`: shards claim nothing, nobody
/// draws grants, and neither the quota nor the provider starts it again. Claims older than the
/// commit may start until the claim horizon. Returns the state it was in. Error `not_found`.
result<std::string> pause_route(session&, route_id, std::string_view reason,
                                std::string_view actor);

/// From paused, stopped or waiting to running; `running` is fine as it is. Returns the state it was
/// in. Errors: `refused` where it waits for the daily quota, which ends by itself; `not_found`.
result<std::string> resume_route(session&, route_id, std::string_view actor);

/// The target in place of the configured one, for all nodes, until it is taken back (nothing). It
/// takes effect as any new target does. A brake is still heeded. Errors: `invalid` outside of 0.02
/// to 1,000,000 recipients/s; `not_found`.
result<done> override_rate(session&, route_id, std::optional<rate> target, std::string_view actor);

/// A node as operators see it.
struct node_status {
  node_id id;
  std::string name, version;
  std::string started_at; ///< ISO 8601 UTC
  double seen_ago_s = 0;
  bool is_stopping = false; ///< asked to, not done
  bool has_stopped = false;
  std::int32_t shards = 0;    ///< that it owns
  std::int32_t in_flight = 0; ///< of those, as of its last renewal
};

/// Nodes that have not stopped and were seen within a day; oldest first, at most 200.
result<std::vector<node_status>> list_nodes(session&);
/// Error `not_found`.
result<node_status> show_node(session&, node_id);

/// Asks the node to drain and end, which it sees at its next renewal. Asked already is fine.
/// Errors: `refused` where it has stopped; `not_found`.
result<done> request_stop(session&, node_id, std::string_view actor);

} // namespace paceline
