/// Times as AWS writes them. Pure: whole seconds since 1970 UTC in and out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// Where the wall clock is read; tests put their own in its place. Signatures and the expiry of
/// credentials are the only things here that need to know what time people have.
using wall_clock_function = std::function<std::int64_t()>;

/// The machine's wall clock.
std::int64_t unix_seconds_now();

/// `20260301T100000Z`, as the header X-Amz-Date has it. Years 0 to 9999.
std::string amz_date(std::int64_t unix_seconds);

/// `Sun, 01 Mar 2026 10:20:00 GMT` (RFC 9110, 5.6.7, the preferred form). Nothing for all else.
std::optional<std::int64_t> read_http_date(std::string_view text);

/// `2026-03-01T10:20:00Z`, also with a fraction, as credentials expire. Nothing for all else.
std::optional<std::int64_t> read_utc_time(std::string_view text);

} // namespace paceline
