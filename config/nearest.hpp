/// What somebody may have meant by a key that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// The candidate with the fewest changed characters from `written`, at most a third of them; the
/// first of several, empty if none is that near.
std::string nearest(std::string_view written, const std::vector<std::string>& candidates);

} // namespace paceline
