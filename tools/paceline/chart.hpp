/// The dispatch curve as a bar chart of characters. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline {

struct chart_options {
  int width = 80;                          ///< columns at most, axis included; at least 40 are used
  int height = 8;                          ///< rows of bars
  bool utf8 = true;                        ///< eighth blocks; otherwise plain ASCII
  std::optional<double> target_per_second; ///< a line at that height, if above 0
};

/// Where there are more seconds than columns, neighbours share one: it shows their mean, and the
/// last line says of how many seconds. Where there are few, a second takes several columns.
struct chart_columns {
  std::vector<double> heights; ///< starts per second, one per column
  std::int64_t seconds_per_column = 1;
  int columns_per_second = 1;
};
chart_columns fit_columns(const std::vector<std::int64_t>& starts, int columns);

/// Lines of text, each ended; a note in place of a chart where nothing was started.
std::string draw_chart(const std::vector<std::int64_t>& starts, const chart_options& options);

} // namespace paceline
