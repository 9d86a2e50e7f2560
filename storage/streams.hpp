/// Streams: what shares a route fairly.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/rate.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct due_stream {
  route_id route;
  stream_id stream;
  project_id project;
  std::int16_t priority = 10; ///< lower goes first; direct mail 0, campaigns 10
  std::int32_t weight = 100;
  std::optional<rate> rate_cap;
  nanoseconds due_in{
      0}; ///< 0: something is due now; otherwise when its earliest queued row will be
  bool is_campaign = false; ///< otherwise a project's direct mail
};

/// Running streams of these routes that have a queued row, due now or within a minute. One probe
/// per stream.
result<std::vector<due_stream>> due_streams(session&, const std::vector<route_id>&);

/// The stream of a project's direct mail of one priority (0 to 100, lower goes first) on a route;
/// created on first use. Never changes, so that callers may keep it.
result<stream_id> direct_stream(session&, route_id, project_id, std::int16_t priority = 0);

} // namespace paceline
