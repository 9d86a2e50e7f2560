/// The cluster: which shards this node owns, until when, and what the database's clock says.
///
/// Ownership is a row with an epoch and a renewal number. The holder's deadline is the instant
/// before it sent its last renewal plus the lease minus a margin; a contender takes a shard only
/// after it has seen the row unchanged for a whole lease plus margin on its own clock. Nobody
/// compares clocks with anybody.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <caf/all.hpp>

#include "actors/cluster/clock_estimate.hpp"
#include "actors/dispatch/shard_ports.hpp"
#include "actors/answers.hpp"
#include "actors/messages.hpp"
#include "config/logging.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct cluster_options {
  node_id node;
  std::vector<route_id> routes;
  nanoseconds lease = std::chrono::seconds{6};
  nanoseconds margin = std::chrono::seconds{1};
  nanoseconds renew = std::chrono::milliseconds{1500};
  /// Called once, on the actor's thread, when an operator wants this node to end.
  std::function<void()> stop_requested = [] {};
};

/// One per node. Runs on CAF's scheduler; never blocks.
/// Receives: abandon_shard_ownership, release_ownership (supervisor), publish_in_flight (shards),
///   wake_route (listener): an operator may have changed a route, so they are read again.
/// Sends: start_shard, stop_shard, use_reading, report_released (supervisor).
/// Persists: ownership rows (owner, epoch, renewal number).
/// After a crash: the rows stay; others see them unchanged for a lease and take over.
class cluster_actor : public caf::event_based_actor {
public:
  /// `pool` is the node's control pool.
  cluster_actor(caf::actor_config& config, cluster_options options, database_pool& pool,
                order_desk& desk, const boot_time& time, logger& log, caf::actor_addr supervisor);

  caf::behavior make_behavior() override;
  const char* name() const override { return "cluster"; }

private:
  struct holding {
    epoch_id epoch;
    std::int32_t in_flight = 0;
  };
  struct sighting {
    epoch_id epoch;
    std::int64_t renewal = 0;
    boot_instant since{};
  };

  void renew();
  void on_renewed(const shards_renewed& answer);
  void publish(const timed_renewal& renewal);
  void heed_stop(const renewal_reply& reply);
  void on_wake();
  void read_routes_now();
  void on_routes(const routes_read& answer);
  void look_for_shards();
  void on_listed(const shards_listed& answer);
  bool is_free(const shard_row& row);
  void take(const shard_row& row, route_id route);
  void on_taken(const shard_taken& answer);
  void abandon(const abandon_shard_ownership& order);
  void release();
  std::vector<held_shard> held() const;
  boot_instant deadline_from(boot_instant sent) const {
    return sent + options_.lease - options_.margin;
  }

  cluster_options options_;
  database_pool& pool_;
  order_desk& desk_;
  const boot_time& time_;
  logger& log_;
  caf::actor_addr supervisor_;
  clock_estimate clock_;
  std::map<shard_id, holding> holdings_;
  std::unordered_map<shard_id, sighting> sightings_; ///< of shards that others own
  std::set<shard_id> taking_;                        ///< acquisitions that are out
  std::int32_t shards_in_all_ = 0;                   ///< of all our routes, by the last readings
  bool releasing_ = false;
  bool stop_told_ = false;
  bool reading_routes_ = false; ///< a reading between two renewals is due or out
  bool read_again_ = false;     ///< and something came up since it was asked for
  boot_instant routes_read_at_{};
};

} // namespace paceline
