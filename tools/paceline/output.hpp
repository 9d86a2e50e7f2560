/// How the program speaks: numbers with units, aligned tables, colours only where they belong,
/// errors as `paceline: ...` on standard error. Everything but `describe_terminal`, `say_error` and
/// `print` is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/result.hpp"

namespace paceline {

/// Exit statuses of the program.
enum exit_status : int {
  exit_fine = 0,
  exit_failed = 1,       ///< the operation failed: database away, not found, refused
  exit_wrong_use = 2,    ///< wrong use or bad configuration: try again differently
  exit_interrupted = 130 ///< as shells report SIGINT
};

/// What a descriptor can show.
struct terminal {
  bool is_terminal = false;
  bool has_color = false; ///< a terminal, without NO_COLOR, not `dumb`
  bool has_utf8 = false;  ///< a terminal in a UTF-8 locale
  int width = 80;         ///< columns; 80 where nobody says
};
terminal describe_terminal(int descriptor);

enum class color { red, green, yellow, dim, bold };
/// `text` in that colour, or as it is where the terminal has none.
std::string painted(const terminal&, color, std::string_view text);

/// `1234567` as `1,234,567`.
std::string grouped(std::int64_t number);
/// At most `decimals` places, without trailing zeros, grouped: `4,987.3`. `-` if not finite.
std::string decimal(double number, int decimals = 1);
/// `4,987.3/s`; `-` for nothing.
std::string rate_text(std::optional<double> per_second);
/// `850 ms`, `4.25 s`, `12 min 5 s`, `3 h 20 min`, `2 d 4 h`; `-` for nothing.
std::string seconds_text(std::optional<double> seconds);
/// `1 recipient`, `2 recipients`.
std::string counted(std::int64_t number, std::string_view singular, std::string_view plural = {});

/// Columns that UTF-8 `text` takes, one per code point.
std::size_t display_width(std::string_view text);

enum class align { left, right };

/// Rows of cells as aligned text, two blanks between the columns.
class table {
public:
  struct column {
    std::string title; ///< upper case by custom
    align side = align::left;
  };
  explicit table(std::vector<column> columns);
  /// As many cells as columns; an empty cell is shown as `-`.
  void add(std::vector<std::string> cells);
  bool is_empty() const { return rows_.empty(); }
  /// With the titles, each line ended; no trailing blanks.
  std::string text() const;

private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Writes to standard output.
void print(std::string_view text);
/// Writes `paceline: text` to standard error.
void say(std::string_view text);
/// Says what failed and returns the exit status that belongs to it: wrong use for `invalid`,
/// failed for everything else.
int say_error(const error& failure);
/// Says what is wrong and where the help is; returns `exit_wrong_use`.
int say_wrong_use(std::string_view text, std::string_view command);

} // namespace paceline
