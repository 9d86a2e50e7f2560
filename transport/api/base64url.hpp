/// Base64url without padding (RFC 4648, section 5), as tokens and cursors carry it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paceline {

std::string base64url(std::span<const std::uint8_t> octets);
std::string base64url(std::string_view octets);

/// Nothing unless `text` is exactly what `base64url` makes: no padding, no other character, and
/// unused bits of the last one zero, so that each value has one spelling.
std::optional<std::string> read_base64url(std::string_view text);

} // namespace paceline
