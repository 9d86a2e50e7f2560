#include "storage/clean_text.hpp"

#include <cstdint>

namespace paceline {
namespace {

struct decoded {
  std::uint32_t code_point = 0;
  std::size_t octets = 1;
  bool valid = false;
};

/// The code point at the beginning of `text`, by RFC 3629: no surrogates, no overlong forms.
decoded decode(std::string_view text) {
  const auto octet = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = octet(0);
  if (first < 0x80)
    return {first, 1, true};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() < length)
    return {};
  std::uint32_t value = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((octet(i) & 0xc0) != 0x80)
      return {};
    value = value << 6 | (octet(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
    return {};
  return {value, length, true};
}

bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

} // namespace

std::string clean_text(std::string_view text, std::size_t limit) {
  std::string clean;
  std::size_t length = 0;
  while (!text.empty() && length < limit) {
    const auto next = decode(text);
    const auto octets = text.substr(0, next.octets);
    text.remove_prefix(next.octets);
    if (!next.valid)
      clean += "\xef\xbf\xbd";
    else if (octets == "\t" || octets == "\n" || octets == "\r")
      clean += ' ';
    else if (is_control(next.code_point))
      continue;
    else
      clean += octets;
    ++length;
  }
  return clean;
}

} // namespace paceline
