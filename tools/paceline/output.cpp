#include "tools/paceline/output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace paceline {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::string_view{value} : std::string_view{};
}

bool locale_is_utf8() {
  std::string_view locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale = variable(name); !locale.empty())
      break;
  std::string lower{locale};
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
}

std::string pair_of_units(std::int64_t whole, std::int64_t factor, std::string_view large,
                          std::string_view small) {
  std::string text = grouped(whole / factor);
  text.append(" ").append(large);
  if (whole % factor != 0)
    text.append(" ").append(std::to_string(whole % factor)).append(" ").append(small);
  return text;
}

void append_padded(std::string& line, std::string_view cell, std::size_t width, align side) {
  const std::string padding(width - std::min(width, display_width(cell)), ' ');
  if (side == align::right)
    line += padding;
  line += cell;
  if (side == align::left)
    line += padding;
}

} // namespace

terminal describe_terminal(int descriptor) {
  terminal seen;
  seen.is_terminal = ::isatty(descriptor) == 1;
  if (!seen.is_terminal)
    return seen;
  seen.has_color = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  seen.has_utf8 = locale_is_utf8();
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    seen.width = size.ws_col;
  return seen;
}

std::string painted(const terminal& on, color which, std::string_view text) {
  if (!on.has_color)
    return std::string{text};
  static constexpr std::array<std::string_view, 5> codes{"31", "32", "33", "2", "1"};
  std::string out = "\x1b[";
  out.append(codes[static_cast<std::size_t>(which)]).append("m").append(text).append("\x1b[0m");
  return out;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(at), ',');
  }
  return digits;
}

std::string decimal(double number, int decimals) {
  if (!std::isfinite(number) || std::fabs(number) > 9e15)
    return "-";
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, std::fabs(number));
  const std::string plain = buffer.data();
  const auto point = plain.find('.');
  std::string text = grouped(std::stoll(plain.substr(0, point)));
  if (point != std::string::npos) {
    auto fraction = plain.substr(point);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    if (fraction != ".")
      text += fraction;
  }
  if (number < 0 && text != "0")
    text.insert(text.begin(), '-');
  return text;
}

std::string rate_text(std::optional<double> per_second) {
  if (!per_second)
    return "-";
  // Slow routes need their thousandths; fast ones don't.
  return decimal(*per_second, *per_second < 10 ? 3 : 1) + "/s";
}

std::string seconds_text(std::optional<double> seconds) {
  if (!seconds || !std::isfinite(*seconds))
    return "-";
  const double value = *seconds;
  if (std::fabs(value) < 0.9995)
    return decimal(value * 1000, 0) + " ms";
  if (value < 59.995)
    return decimal(value, 2) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(value));
  if (whole < 3600)
    return pair_of_units(whole, 60, "min", "s");
  if (whole < 86'400)
    return pair_of_units(whole / 60, 60, "h", "min");
  return pair_of_units(whole / 3600, 24, "d", "h");
}

std::string counted(std::int64_t number, std::string_view singular, std::string_view plural) {
  std::string text = grouped(number) + " ";
  if (number == 1)
    return text.append(singular);
  return plural.empty() ? text.append(singular).append("s") : text.append(plural);
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

table::table(std::vector<column> columns) : columns_(std::move(columns)) {}

void table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (auto& cell : cells)
    if (cell.empty())
      cell.push_back('-');
  rows_.push_back(std::move(cells));
}

std::string table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_)
      width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  std::string out;
  const auto append_line = [this, &widths, &out](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0)
        line += "  ";
      append_padded(line, cells[i], widths[i], columns_[i].side);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  std::vector<std::string> titles;
  for (const auto& column : columns_)
    titles.push_back(column.title);
  append_line(titles);
  for (const auto& row : rows_)
    append_line(row);
  return out;
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void say(std::string_view text) {
  std::string line = "paceline: ";
  line.append(text).append("\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int say_error(const error& failure) {
  say(failure.text);
  return failure.kind == error_kind::invalid ? exit_wrong_use : exit_failed;
}

int say_wrong_use(std::string_view text, std::string_view command) {
  say(text);
  std::string help = "See `paceline";
  if (!command.empty())
    help.append(" ").append(command);
  say(help + " --help`.");
  return exit_wrong_use;
}

} // namespace paceline
