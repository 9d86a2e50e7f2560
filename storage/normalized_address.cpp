#include "storage/suppressions.hpp"

// Apart from the queries: whoever only compares addresses needs no database.

namespace paceline {

std::string normalized_address(std::string_view address) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = address.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  std::string text{address.substr(first, address.find_last_not_of(blanks) - first + 1)};
  for (char& c : text)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return text;
}

} // namespace paceline
