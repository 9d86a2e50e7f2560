/// How long a server wants to be left alone: the value of Retry-After (RFC 9110, section 10.2.3).
/// Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace paceline {

/// No server makes a route wait longer, whatever it says.
inline constexpr std::chrono::seconds max_retry_after{3600};

/// Seconds, or one of the three forms of an HTTP date seen from `now` (seconds since 1970, UTC).
/// From 0 to `max_retry_after`; nothing for everything else: then one's own backoff holds.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view value, std::int64_t now);

/// An HTTP date in any of its three forms as seconds since 1970 (RFC 9110, section 5.6.7). `now`
/// says which century a two-digit year belongs to: none is more than 50 years ahead.
std::optional<std::int64_t> parse_http_date(std::string_view text, std::int64_t now);

} // namespace paceline
