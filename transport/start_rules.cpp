#include "transport/start_rules.hpp"

#include <algorithm>

namespace paceline {

bool start_rules::set_deadline(shard_id shard, epoch_id epoch, boot_instant deadline) {
  auto [place, is_new] = owners_.try_emplace(shard, ownership{epoch, deadline});
  if (is_new)
    return false;
  auto& current = place->second;
  if (epoch < current.epoch || (epoch == current.epoch && current.over()))
    return false;
  bool ends_earlier = epoch != current.epoch;
  current = ownership{epoch, deadline};
  return ends_earlier || current.over();
}

void start_rules::refuse_grids(route_id route, std::int64_t grid_number) {
  auto [place, is_new] = refused_grids_.try_emplace(route, grid_number);
  if (!is_new)
    place->second = std::max(place->second, grid_number);
}

std::optional<reason_code> start_rules::refusal_of(const send_order& order) const {
  auto owner = owners_.find(order.shard);
  if (owner == owners_.end() || owner->second.over() || owner->second.epoch != order.epoch)
    return reason_code::ownership_lost;
  if (stopped_.contains(order.stream))
    return reason_code::stream_stopped;
  auto braked = refused_grids_.find(order.route);
  if (braked != refused_grids_.end() && order.grid_number <= braked->second)
    return reason_code::route_braked;
  return std::nullopt;
}

std::optional<reason_code> start_rules::refusal_at(const send_order& order,
                                                   boot_instant now) const {
  if (auto refusal = refusal_of(order))
    return refusal;
  if (now >= owners_.at(order.shard).deadline)
    return reason_code::ownership_lost;
  if (now > order.latest)
    return reason_code::slot_missed;
  return std::nullopt;
}

} // namespace paceline
