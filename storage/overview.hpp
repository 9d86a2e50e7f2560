/// What an operator sees at one glance: routes, shards, nodes and streams. Read-only and without a
/// look at any message: sums come from the counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/rate.hpp"
#include "storage/model/route_reading.hpp"
#include "storage/operations.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct route_overview {
  route_id id;
  route_name name;
  std::string state, state_reason; ///< running, waiting (never one that is over), stopped, paused
  std::int32_t generation = 1, shard_count = 1;
  rate target;
  std::optional<rate> next_target;   ///< a grid that has not started yet
  std::optional<rate> override_rate; ///< an operator's target in place of the configured one
  double rate_now = 0; ///< recorded starts per second, two whole seconds up to 1 s ago
  std::optional<quota_reading> quota; ///< nothing before the provider answered for the first time
  std::optional<double> quota_age_s;
  double brake_left_s = 0;   ///< 0: no brake
  double waiting_left_s = 0; ///< of state waiting
};

struct shard_overview {
  route_name route;
  std::int32_t index = 0, count = 1;
  std::string owner; ///< the node's name; empty if free
  node_id owner_id;
  epoch_id epoch;
  std::int32_t in_flight = 0; ///< as of the owner's last renewal
};

/// A stream that has something open, unknown or not yet expanded, or that is a campaign under way.
struct stream_overview {
  stream_id id;
  route_name route;
  std::string kind;         ///< direct, campaign
  std::string name;         ///< of the campaign, else empty
  std::string state;        ///< of the campaign, or of the stream of direct mail
  std::string state_reason; ///< why the provider had it paused; else empty
  std::int16_t priority = 0;
  std::int32_t weight = 0;
  std::int64_t not_expanded = 0; ///< audience that has no state row yet
  std::int64_t open = 0;         ///< queued and attempting
  std::int64_t unknown = 0;
};

struct overview {
  std::vector<route_overview> routes;   ///< by name
  std::vector<shard_overview> shards;   ///< of the routes' current generations, by route and index
  std::vector<stream_overview> streams; ///< oldest first, at most 200
  std::vector<node_status> nodes;       ///< as list_nodes
};

/// Four statements, each with its own snapshot: good enough for people. Blocks; may be repeated.
result<overview> read_overview(session&);

/// What the server allows, for `config check`.
struct server_limits {
  std::string version;
  std::int32_t max_connections = 0;
  std::int32_t reserved = 0; ///< of those, for superusers only
  std::int32_t in_use = 0;   ///< client connections now, this one included
};
result<server_limits> read_server_limits(session&);

} // namespace paceline
