/// A whole route in virtual time: shards with the real gate and the real policy, an endless
/// backlog, a database that answers late, a courier that starts late, and trouble on demand
/// (stalls, takeovers, re-sharding, new targets, brakes). It records every start, for the promises
/// to be checked on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <vector>

#include "actors/dispatch/shard_policy.hpp"
#include "actors/dispatch/target_change.hpp"
#include "transport/providers/token_bucket.hpp"

namespace paceline::sim {

/// What can go wrong, and how often.
struct trouble {
  bool stalls = false;
  bool takeovers = false;
  bool resharding = false;
  bool new_targets = false;
  bool brakes = false;
  bool late_starts = false;
  bool latest_starts = false; ///< for a while each as late as it may, then punctual again
  bool slow_claims = false;   ///< some answers take seconds
  nanoseconds clock_error{0}; ///< each shard's clock is off by at most this
  bool any() const { return stalls || takeovers || resharding || new_targets || brakes; }
};

/// What the backlog is made of: `wide_percent` of the messages have `low` to `high` recipients,
/// all others one.
struct cost_mix {
  std::int32_t wide_percent = 0;
  std::int32_t low = 1;
  std::int32_t high = 1;
};

/// A provider that refuses, as the simulated one does: a bucket refilled at `tolerance x rate` that
/// holds `3 + 0.05 x rate`. A refusal brakes the route as `actors/quota` does: silence, half of the
/// target until the quota answers, then the quota until the brake ends.
struct strict_provider {
  rate quota;
  double tolerance = 1.15;
  /// How long the silence of a brake lasts. Where one node runs the route, 100 ms.
  nanoseconds lead = grid_lead;
};

struct plan {
  std::uint64_t seed = 1;
  std::int32_t shards = 1;
  rate target = rate::from_millihertz(1000);
  nanoseconds length = std::chrono::seconds{30};
  std::int32_t largest_cost = 1; ///< a quarter of the messages cost 1 to this
  trouble bad;
  std::optional<cost_mix> mix = {};             ///< in place of `largest_cost`
  std::optional<strict_provider> provider = {}; ///< without: everything is accepted
};

/// One start as the ledger would see it, in true time.
struct started {
  database_instant at{};
  std::int32_t cost = 1;
  std::int64_t shard = 0; ///< unique over re-sharding
  bool refused = false;   ///< by the provider, for the rate
};

/// Runs a plan to its end.
class route_world {
public:
  explicit route_world(plan what);
  ~route_world();

  const std::vector<started>& run();
  /// When the first grid begins.
  database_instant begin() const { return grids_.front().start; }
  /// The largest target in force in [from, to].
  rate largest_target(database_instant from, database_instant to) const;
  /// The same seed gives the same digest.
  std::uint64_t digest() const;
  /// How often a refusal braked the route.
  std::int32_t brakes() const { return brakes_; }

private:
  struct shard;
  struct event {
    database_instant at{};
    std::uint64_t order = 0;
    std::function<void()> what;
    bool operator>(const event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void schedule(database_instant at, std::function<void()> what);
  void schedule_trouble(nanoseconds mean, std::function<void()> what);
  std::int64_t uniform(std::int64_t low, std::int64_t high);
  nanoseconds about(nanoseconds mean);
  nanoseconds some_lateness(const slot& when);
  rate some_target();
  void note_grids();

  void open_shards(std::int32_t count);
  void open_shard(std::int64_t name, shard_position position, gate_state gate);
  void tick(std::int64_t name, std::uint64_t life);
  void read_rows(shard& s);
  void claim(shard& s, const group_claim& group);
  void answer(std::int64_t name, std::uint64_t life, const group_claim& group);
  void start(std::int64_t name, std::uint64_t life, const reserved_row& row, slot when);
  void finish(std::int64_t name, std::uint64_t life, outcome what);
  void poll_route(std::int64_t name, std::uint64_t life);
  shard* alive(std::int64_t name, std::uint64_t life);

  void stall_one();
  void take_one_over();
  void reshard();
  void change_target();
  void brake();
  std::int32_t some_cost();
  bool is_refused(std::int32_t cost);
  void heed_refusal();

  plan plan_;
  std::mt19937_64 random_;
  database_instant now_{};
  database_instant end_{};
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::uint64_t next_order_ = 0;
  std::int64_t next_name_ = 0;
  std::int64_t next_message_ = 0;
  std::uint64_t next_life_ = 0;
  route_pace route_;
  std::vector<grid> grids_;
  std::vector<std::unique_ptr<shard>> shards_; ///< by name
  std::vector<std::int64_t> running_;          ///< names of this generation
  std::vector<started> starts_;
  std::optional<token_bucket> bucket_;
  std::int64_t grids_stopped_ = 0; ///< the couriers start nothing of grids up to this number
  database_instant braked_at_ = database_instant::min();
  std::int32_t brakes_ = 0;
};

} // namespace paceline::sim
