/// What a node counts and shows of one route: the part of its shards, its quota and its state.
///
/// Made once for each route by the node, copied to whoever counts; made without arguments they
/// count nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/cluster/clock_estimate.hpp"
#include "config/metrics.hpp"
#include "storage/model/outcome.hpp"
#include "storage/model/rate.hpp"
#include "storage/model/route_reading.hpp"

namespace paceline {

struct route_instruments {
  route_instruments() = default;
  /// `into` must outlive this.
  route_instruments(metrics& into, const std::string& route);

  /// The supervisor, at each reading of the route's row.
  void show(const route_reading& reading) const;
  /// The quota actor, when the provider has told its quota.
  void show(const quota_reading& quota) const;
  /// The quota actor: the provider refused for the whole route.
  void count(refusal what) const;

  // Shards
  counter skipped_in_prepare, skipped_in_claim;
  histogram group_size;
  gauge share_rate, grant_left;

  // The supervisor
  gauge shards, shards_owned;
  gauge target_rate, quota_rate, braked;
  std::array<gauge, 4> states; ///< by state
  // The quota actor
  gauge daily_quota, daily_sent;
  counter refused_rate, refused_day, refused_account;
};

/// One shard's part in its route's gauges; taken back when it ends. Owned by the shard's actor.
class shard_gauges {
public:
  explicit shard_gauges(const route_instruments& of);
  /// `grant_left`: nothing where the day has no limit.
  void show(rate share, std::optional<std::int64_t> grant_left);

private:
  gauge_part share_, grant_left_;
};

} // namespace paceline
