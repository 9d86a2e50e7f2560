/// `paceline serve`: one node of the cluster, from start to drained.
#pragma once

#include "config/logging.hpp"
#include "config/settings.hpp"

namespace paceline {

/// Runs until SIGTERM or SIGINT, then drains: unstarted calls come back, calls in flight finish and
/// are recorded, ownership is given up. A second signal ends it at once.
/// Returns the exit status: 0 after a clean drain, 1 where the start failed (the log says why) or
/// the drain did not finish within `node.drain_timeout_ms`.
/// Call it from the main thread, before any other thread exists.
int run_serve(const settings& config, logger& log);

} // namespace paceline
