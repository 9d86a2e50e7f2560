#include "transport/api/base64.hpp"

#include <array>
#include <cstdint>

namespace paceline {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// By octet: the value, or -1.
constexpr std::array<std::int8_t, 256> values = [] {
  std::array<std::int8_t, 256> made{};
  made.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    made[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return made;
}();

} // namespace

std::optional<std::string> read_base64(std::string_view text) {
  std::string octets;
  octets.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int held = 0;
  std::size_t characters = 0, padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n')
      continue;
    ++characters;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = values[static_cast<unsigned char>(c)];
    if (value < 0 || padding > 0)
      return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      octets += static_cast<char>((bits >> held) & 0xff);
    }
  }
  // Two characters left over hold 8 + 4 bits and take two of padding, three 16 + 2 and one.
  const bool has_spare_bits = (bits & ((1u << held) - 1)) != 0;
  if (characters % 4 != 0 || static_cast<int>(padding) != held / 2 || has_spare_bits)
    return std::nullopt;
  return octets;
}

} // namespace paceline
