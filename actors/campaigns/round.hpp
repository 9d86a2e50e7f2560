/// One round over the open campaigns: expand what runs low, cancel what was canceled, finish what
/// has nothing open. Blocking; runs on a background database thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/answers.hpp"
#include "actors/messages.hpp"
#include "storage/campaigns.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// A route as expansion sees it: how many open messages a campaign should have.
struct expansion_route {
  std::string text;
  std::int64_t buffer = 400;
};

struct expansion_limits {
  std::int32_t page = 2000;
  nanoseconds buffer = std::chrono::seconds{10}; ///< of the live rate
  std::int64_t buffer_min = 400;
  std::int64_t buffer_max = 20000;
  std::int32_t pages_per_round = 10; ///< a campaign, so that others get their turn
};

/// 10 s of `target`, within the limits.
std::int64_t expansion_buffer(const expansion_limits& limits, rate target);

/// Error: the first that a statement returned; what was done before stays done.
result<campaign_round_report> run_campaign_round(session& db,
                                                 const std::map<route_id, expansion_route>& routes,
                                                 const expansion_limits& limits,
                                                 std::int32_t writer);

} // namespace paceline
