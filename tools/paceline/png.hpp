/// The dispatch curve as a picture, through the program gnuplot.
#pragma once

#include <optional>
#include <string>

#include "storage/campaigns.hpp"
#include "storage/result.hpp"

namespace paceline {

struct picture {
  std::string title;
  curve dispatched;
  std::optional<double> target_per_second; ///< a line at that height, if above 0
};

/// What gnuplot gets on its standard input: settings, then the data. Pure.
std::string gnuplot_script(const picture& what);

/// Draws `what` into the PNG file at `path`, which appears complete or not at all. Blocks while
/// gnuplot runs. Errors: `refused` if gnuplot isn't installed or fails, or the file can't be
/// written.
result<done> draw_png(const picture& what, const std::string& path);

} // namespace paceline
