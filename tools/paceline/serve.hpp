/// `paceline serve`: one node of the cluster, from start to drained.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "config/logging.hpp"
#include "config/settings.hpp"

namespace paceline {

/// Reads the configuration again, from where it was read at the start.
using read_again_function = std::function<std::variant<settings, std::vector<config_error>>()>;

/// Runs until SIGTERM, SIGINT or `paceline node stop`, then drains: unstarted calls come back,
/// calls in flight finish and are recorded, ownership is given up. A second signal ends it at once.
/// SIGHUP reads the configuration again: what is live takes effect, what is not is named, and with
/// errors everything stays as it is.
/// Returns the exit status: 0 after a clean drain, 1 where the start failed (the log says why) or
/// the drain did not finish within `node.drain_timeout_ms`.
/// Call it from the main thread, before any other thread exists.
int run_serve(const settings& config, const read_again_function& read_again, logger& log);

} // namespace paceline
