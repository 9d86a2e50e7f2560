#include "transport/api/base64url.hpp"

namespace paceline {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int value_of(char c) {
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  if (c == '-')
    return 62;
  return c == '_' ? 63 : -1;
}

} // namespace

std::string base64url(std::span<const std::uint8_t> octets) {
  std::string text;
  text.reserve((octets.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const auto octet : octets) {
    bits = (bits << 8) | octet;
    held += 8;
    while (held >= 6) {
      held -= 6;
      text += alphabet[(bits >> held) & 63];
    }
  }
  if (held > 0)
    text += alphabet[(bits << (6 - held)) & 63];
  return text;
}

std::string base64url(std::string_view octets) {
  return base64url(std::span{reinterpret_cast<const std::uint8_t*>(octets.data()), octets.size()});
}

std::optional<std::string> read_base64url(std::string_view text) {
  std::string octets;
  octets.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0)
      return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      octets += static_cast<char>((bits >> held) & 0xff);
    }
  }
  const auto unused = bits & ((1u << held) - 1);
  if (held >= 6 || unused != 0)
    return std::nullopt;
  return octets;
}

} // namespace paceline
