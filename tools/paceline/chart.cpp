#include "tools/paceline/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tools/paceline/output.hpp"

namespace paceline {
namespace {

/// Beyond this a bar says no more, it only shouts.
constexpr int widest_second = 6;

struct glyphs {
  std::array<std::string_view, 9> bars; ///< by eighths of a row
  std::string_view target, axis, corner, floor;
};

glyphs glyphs_for(bool utf8) {
  if (utf8)
    return {{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "╌", "│", "└", "─"};
  return {{" ", "_", "_", ".", ".", ":", ":", "#", "#"}, "-", "|", "+", "-"};
}

/// The row, counted from below, in which a line at `value` lies.
int row_of(double value, double top, int height) {
  const int row = static_cast<int>(std::ceil(value / top * height)) - 1;
  return std::clamp(row, 0, height - 1);
}

/// Eighths of `row` that a bar of `value` fills. A bar that is not nothing shows at least one.
int eighths(double value, double top, int height, int row) {
  const double filled = value / top * height - row;
  const int part = static_cast<int>(std::lround(filled * 8));
  return std::clamp(part, row == 0 && value > 0 ? 1 : 0, 8);
}

std::string right_aligned(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ').append(text);
}

/// Says what the axis is, at full length where that fits.
std::string axis_caption(const chart_columns& shown, std::int64_t seconds, std::size_t indent,
                         std::size_t width) {
  std::string mean;
  if (shown.seconds_per_column > 1)
    mean = "; a column is the mean of " + grouped(shown.seconds_per_column) + " s";
  const std::string range = "0 to " + grouped(seconds) + " s";
  std::string text = range + " after the first start" + mean;
  if (indent + text.size() > width)
    text = range + mean;
  if (indent + text.size() > width)
    indent = 0;
  return std::string(indent, ' ') + text.substr(0, width) + "\n";
}

} // namespace

chart_columns fit_columns(const std::vector<std::int64_t>& starts, int columns) {
  chart_columns fitted;
  const auto seconds = static_cast<std::int64_t>(starts.size());
  if (seconds == 0 || columns <= 0)
    return fitted;
  fitted.seconds_per_column = (seconds + columns - 1) / columns;
  fitted.columns_per_second =
      static_cast<int>(std::clamp<std::int64_t>(columns / seconds, 1, widest_second));
  for (std::int64_t from = 0; from < seconds; from += fitted.seconds_per_column) {
    const auto to = std::min(seconds, from + fitted.seconds_per_column);
    double sum = 0;
    for (auto at = from; at < to; ++at)
      sum += static_cast<double>(starts[static_cast<std::size_t>(at)]);
    fitted.heights.insert(fitted.heights.end(), static_cast<std::size_t>(fitted.columns_per_second),
                          sum / static_cast<double>(to - from));
  }
  return fitted;
}

std::string draw_chart(const std::vector<std::int64_t>& starts, const chart_options& options) {
  if (std::all_of(starts.begin(), starts.end(), [](auto n) { return n <= 0; }))
    return "Nothing was started yet: there is no curve.\n";
  const auto marks = glyphs_for(options.utf8);
  const double target = options.target_per_second.value_or(0);
  const double peak = static_cast<double>(*std::max_element(starts.begin(), starts.end()));
  // The scale comes from single seconds, so that it stays the same however the curve is fitted.
  const double top = std::max(peak, target);
  const std::string top_label = decimal(top) + "/s";
  const std::string target_label = target > 0 ? "target " + decimal(target) : std::string{};
  const auto label_width = std::max<std::size_t>(top_label.size(), 3);
  const int width = std::max(40, options.width);
  const int used = static_cast<int>(label_width + 2 + target_label.size() + 1);
  const auto shown = fit_columns(starts, width - used);
  const int height = std::max(2, options.height);
  const int target_row = target > 0 ? row_of(target, top, height) : -1;

  std::string out;
  for (int row = height - 1; row >= 0; --row) {
    const bool is_target = row == target_row;
    out += right_aligned(row == height - 1 ? top_label : "", label_width);
    out.append(" ").append(marks.axis);
    std::string line;
    for (const double value : shown.heights) {
      const int part = eighths(value, top, height, row);
      line += part == 0 && is_target ? marks.target : marks.bars[static_cast<std::size_t>(part)];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (is_target) {
      const auto missing = shown.heights.size() - display_width(line);
      line.append(std::string(missing, ' ')).append(" ").append(target_label);
    }
    out.append(line).append("\n");
  }
  out += right_aligned("0", label_width);
  out.append(" ").append(marks.corner);
  for (std::size_t i = 0; i < shown.heights.size(); ++i)
    out += marks.floor;
  out += "\n";
  return out
         + axis_caption(shown, static_cast<std::int64_t>(starts.size()), label_width + 2,
                        static_cast<std::size_t>(width));
}

} // namespace paceline
