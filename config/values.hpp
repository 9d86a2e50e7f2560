/// From what somebody wrote to a value of the option's type and range. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/options.hpp"

namespace paceline {

/// A value from the environment or a flag: text that the option's type gives a meaning.
struct untyped_text {
  std::string text;
};

/// A TOML value that no option takes.
struct foreign_value {
  std::string kind; ///< e.g. `date`, `table`
};

/// A value as it was written. TOML has types, so there `"4"` is not a number.
using raw_value = std::variant<untyped_text, foreign_value, bool, std::int64_t, double, std::string,
                               std::vector<std::string>>;

/// A path and a value somebody wrote, and where.
struct raw_setting {
  std::vector<std::string> path;
  raw_value value;
  std::string source; ///< as in `setting_row`
};

/// Why a value was not taken: a sentence about what to do.
struct refused_value {
  std::string advice;
};

/// The value in the option's type and bounds: text is UTF-8 without NUL, numbers are finite.
std::variant<option_value, refused_value> convert(const option& which, const raw_value& value);

/// The value as it was written, for people; secrets masked, control characters escaped.
std::string show(const option& which, const raw_value& value);

/// The shortest digits that read back as the same number; whole numbers without exponent.
std::string shortest(double value);

/// Parts joined by dots; a part with other characters than a-z, A-Z, 0-9, `_`, `-`, `:` is quoted.
std::string join_key(const std::vector<std::string>& path);

/// The reverse: `routes."test:sim".shards` and `routes.test:sim.shards` are the same. Nothing if a
/// part is empty or a quote stays open.
std::optional<std::vector<std::string>> split_key(std::string_view key);

} // namespace paceline
