/// Times as clients write them: RFC 3339, section 5.6, with offset.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/intake.hpp"

namespace paceline {

struct time_reading {
  std::optional<unix_us> time;
  std::string problem; ///< what is wrong; empty if fine
};
/// `2027-01-31T09:30:00.25+01:00`; the offset is `Z` or from -14:00 to +14:00, the year from 1970
/// to 9999; digits behind microseconds are dropped; second 60 is the next minute's first. Pure.
time_reading read_rfc3339(std::string_view text);

} // namespace paceline
