/// The quota of one route: what the provider allows, what the route's target therefore is, and what
/// happens when the provider refuses.
///
/// Target = quota x factor, or an absolute configured rate, or what an operator has set in the
/// route's row, which comes before both. A refusal for the rate brakes: the
/// courier refuses the present grid at once, the route's row says until when, half the rate is the
/// target until the quota has answered, then the raw quota until the brake ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <caf/all.hpp>

#include "actors/dispatch/route_instruments.hpp"
#include "actors/dispatch/shard_ports.hpp"
#include "actors/answers.hpp"
#include "actors/messages.hpp"
#include "config/logging.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct quota_options {
  route_id route;
  std::string route_text;
  node_id node;
  double rate_factor = 1.0;
  rate absolute; ///< zero: follow the quota
  nanoseconds cache = std::chrono::seconds{60};
  nanoseconds brake = std::chrono::seconds{10};
  nanoseconds daily_wait = std::chrono::minutes{5};
  route_instruments measured = {};
};

/// What the route's target should be now; nothing while that isn't known. `by_operator`: zero where
/// no operator has set one. Pure.
std::optional<rate> wanted_target(const quota_options& options, std::optional<rate> raw_quota,
                                  rate by_operator, bool braked);

/// One per route on a node; acts only while this node owns shards of the route (then it gets
/// readings). Runs on CAF's scheduler; never blocks.
/// Receives: use_reading (supervisor), heed_refusal, heed_trouble (shards), change_rate (main),
///   quota_answered (courier), answers of the database.
/// Sends: use_reading (supervisor).
/// Persists: quota cache, target grid, brake, state of the route, pause of a refused campaign.
/// After a crash: the row stands; whoever runs the route goes on from it.
class quota_actor : public caf::event_based_actor {
public:
  quota_actor(caf::actor_config& config, quota_options options, database_pool& control,
              order_desk& desk, const boot_time& time, logger& log);

  caf::behavior make_behavior() override;
  const char* name() const override { return "quota"; }

private:
  bool is_active() const;
  void look();
  void refresh(nanoseconds max_age);
  void on_quota(const quota_answered& answer);
  void on_reading(const use_reading& reading);
  void on_changed(const route_changed& answer);
  void adjust_target();
  void heed(const heed_refusal& refused);
  void heed(const heed_trouble& trouble);
  void note_trouble_now();
  void on_trouble_noted(const trouble_noted& answer);
  void pause_stream(const heed_refusal& refused);
  void on_stream_paused(const stream_paused& answer);
  bool is_news();
  void brake();
  void write_brake();
  void refuse_present_grids();
  template <class Work>
  void change_route(Work work, bool brakes = false);
  std::int64_t newest_grid() const;
  rate newest_target() const;

  quota_options options_;
  database_pool& control_;
  order_desk& desk_;
  const boot_time& time_;
  logger& log_;
  caf::actor_addr supervisor_; ///< who sent the last reading
  std::optional<use_reading> last_;
  boot_instant heard_{}; ///< when a reading came last
  std::optional<rate> raw_quota_;
  boot_instant asked_at_{}; ///< when the quota was last asked for, here or by others
  boot_instant refused_at_{};
  bool brake_unwritten_ = false; ///< the courier has stopped, the route's row does not know it
  bool quota_stale_ = true;      ///< since a brake, or from the start
  bool held_ = false;   ///< the courier refuses every grid before the newest: it may start soon
  int changing_ = 0;    ///< statements about the route that are out
  bool silent_ = false; ///< the provider did not answer when it was last asked
  std::string trouble_, noted_trouble_; ///< how the provider fails, and what the row says of it
  bool noting_trouble_ = false;
};

} // namespace paceline
