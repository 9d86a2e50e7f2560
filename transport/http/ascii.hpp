/// Letters without case, as protocols compare them: ASCII only, whatever the locale. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace paceline {

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string ascii_lower(std::string_view text) {
  std::string made{text};
  for (char& c : made)
    c = ascii_lower(c);
  return made;
}

constexpr bool is_same_ascii(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
}

} // namespace paceline
