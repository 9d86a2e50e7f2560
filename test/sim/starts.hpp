/// What the promises about pace say of a world's starts.
#pragma once

#include <vector>

#include "test/sim/route_world.hpp"

namespace paceline::sim {

/// The worst excess over promise 3 in any sliding second, in recipients; <= 0 if it holds.
/// `starts` in order of time; `e`: the largest error of any shard's clock.
double worst_excess(const route_world& world, const std::vector<started>& starts, nanoseconds e);

/// Recipients that the provider took.
std::int64_t recipients_of(const std::vector<started>& starts);

} // namespace paceline::sim
