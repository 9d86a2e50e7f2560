/// Whether an order may start: ownership, stop marks, brakes and its own slot. Pure: the time is an
/// argument. Not thread-safe.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "transport/courier.hpp"

namespace paceline {

class start_rules {
public:
  /// Epochs only rise: news of an older one are ignored. A deadline of zero ends its epoch for
  /// good. Returns whether waiting orders of the shard may now be refused by `refusal_of`.
  bool set_deadline(shard_id shard, epoch_id epoch, boot_instant deadline);
  void refuse_grids(route_id route, std::int64_t grid_number);
  void stop_stream(stream_id stream) { stopped_.insert(stream); }
  void allow_stream(stream_id stream) { stopped_.erase(stream); }

  /// Why the order can't start whatever its slot: ownership is another's, the stream is stopped,
  /// its grid is braked.
  std::optional<reason_code> refusal_of(const send_order& order) const;
  /// Why it can't start at `now`: as above, or the owner's deadline or its slot has passed.
  std::optional<reason_code> refusal_at(const send_order& order, boot_instant now) const;

private:
  struct ownership {
    epoch_id epoch;
    boot_instant deadline{};
    bool over() const { return deadline == boot_instant{}; }
  };

  std::unordered_map<shard_id, ownership> owners_;
  std::unordered_map<route_id, std::int64_t> refused_grids_; ///< up to and including
  std::unordered_set<stream_id> stopped_;
};

} // namespace paceline
