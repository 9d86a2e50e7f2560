/// What a provider's answers say of its limit on requests: the RateLimit header fields, as the IETF
/// drafts (draft-ietf-httpapi-ratelimit-headers) have had them over the years and as providers send
/// them. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace paceline {

/// The values of the fields; empty where the answer has none.
struct rate_headers {
  std::string_view limit;  ///< RateLimit-Limit: `2`, or `10, 10;w=1, 600;w=60`
  std::string_view reset;  ///< RateLimit-Reset: seconds until the window begins anew
  std::string_view policy; ///< RateLimit-Policy: `10;w=1`, or `"burst";q=10;w=1`
};

/// Requests per second: the lowest of all limits that name a window. Where only RateLimit-Limit and
/// RateLimit-Reset are given, the window is at least what is left of it, and the next usual length
/// (1, 2, 5, 10, 15, 30 s; the same in minutes, an hour, a day) is taken for it. Nothing where
/// nothing can be read.
std::optional<double> requests_per_second(const rate_headers& from);

/// Seconds until the window begins anew, at most `max_retry_after`.
std::optional<std::chrono::seconds> until_reset(const rate_headers& from);

} // namespace paceline
