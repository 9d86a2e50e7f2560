/// Who runs which shard: nodes, routes' topology, shards. The database row is the truth
/// (storage/README.md).
///
/// All functions block on the session's connection and may be repeated after any error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/route_reading.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// Enters this process into `nodes` and returns its identity. A restarted node is a new node.
result<node_id> register_node(session&, std::string_view name, std::string_view version);

/// Marks the node as stopped. Its shards must have been released before.
result<done> retire_node(session&, node_id);

struct seeded_route {
  route_id route;
  std::int32_t shard_count =
      1; ///< what the database says; may differ from the configuration, which then only warns
};

/// Creates the route with `shard_count` shards of generation 1 if the database does not know it;
/// otherwise changes nothing and returns what is there. Safe from two nodes at once.
result<seeded_route> seed_route(session&, const route_name&, std::int32_t shard_count);

/// One shard of the route's current generation, as a contender sees it.
struct shard_row {
  shard_id shard;
  shard_name name;
  node_id owner; ///< none if free
  std::string owner_name;
  epoch_id epoch;
  std::int64_t renewal = 0;
  std::int32_t in_flight = 0; ///< as of the owner's last renewal
  database_instant last_slot{};
};
result<std::vector<shard_row>> list_shards(session&, route_id);

struct acquired_shard {
  epoch_id epoch;               ///< fresh
  database_instant last_slot{}; ///< the stored gate: no slot up to here may be used again
};

/// Takes a shard that is free, or that still has exactly the `seen` epoch and renewal number (the
/// caller has watched it unchanged for a whole lease plus margin on its own clock). Locks the route
/// in share mode. An ownership that ends this way goes to `lost_epochs`. Error `refused` if
/// somebody else was first: not an accident.
result<acquired_shard> acquire_shard(session&, node_id, const shard_row& seen);

struct held_shard {
  shard_id shard;
  epoch_id epoch;
  std::int32_t in_flight = 0; ///< published for `paceline status`
};

struct renewal_reply {
  std::vector<shard_id> renewed;     ///< those of the request that are still ours
  std::vector<route_reading> routes; ///< readings of the routes asked for
  bool stop_requested = false;       ///< an operator wants this node to drain and end
};

/// Renews all shards of this node by one statement (renewal number + 1 where owner and epoch still
/// match), touches the node's row, and reads its routes.
result<renewal_reply> renew_shards(session&, node_id, const std::vector<held_shard>&,
                                   const std::vector<route_id>& routes);

/// The database's `clock_timestamp()` by the shortest round trip there is; for clock estimates. It
/// waits for no lock and no disk, as a renewal may.
result<database_instant> read_clock(session&);

/// Gives shards back (owner none). Only where owner and epoch still match; repeatable.
result<done> release_shards(session&, node_id, const std::vector<held_shard>&);

/// The shard's actor died inside a living node, or claims of this epoch are in doubt: notes it in
/// `lost_epochs` and frees the shard. Repeatable.
result<done> abandon_shard(session&, node_id, const held_shard&);

/// Start refuses a server that may forget commits: error `refused` naming the setting when `fsync`
/// is off or `synchronous_commit` is off or local.
result<done> check_durability(session&);

/// A small and a large round trip (64 KiB parameter), for SHARD_PLACED. In nanoseconds.
struct round_trips {
  nanoseconds small{0};
  nanoseconds large{0};
};
result<round_trips> measure_round_trips(session&);

/// A lane for id_source, 0 to 1023.
result<std::int32_t> next_id_lane(session&);

} // namespace paceline
