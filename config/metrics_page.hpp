/// The list of metrics as a whole, and the page that is made from it.
#pragma once

#include <span>
#include <string>

#include "config/metric_family.hpp"

namespace paceline {

/// All of `metric_list.hpp`, in that order.
std::span<const metric_family* const> all_metrics();

/// docs/metrics.md. A test keeps the committed file equal to it; PACELINE_UPDATE_REFERENCE=1 in its
/// environment writes the file anew.
std::string render_metrics_page();

} // namespace paceline
