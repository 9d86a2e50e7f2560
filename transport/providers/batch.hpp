/// Mail by HTTP, many messages in one request: `POST /emails/batch` as Resend has it.
///
/// Calls of one slot go in one request, up to `batch_size`; the gate's slots are requests. A
/// request is written as a whole or not at all: if a single call of it may not go, none does.
/// Its Idempotency-Key follows from its messages and their versions.
///
/// What an answer means:
/// - 2xx: accepted, ids in the order of the messages; a message without an id, or an unreadable
///   body: `unknown`.
/// - 400, 413, 422 and other 4xx: with several messages all come back `not_started` with
///   BATCH_REFUSED, to be sent one by one; a single one is `rejected` (for its sender's sake:
///   refusal::stream).
/// - 429: `throttled` for all, with the server's wish to be left alone. `daily_quota_exceeded` and
///   `monthly_quota_exceeded` are refusal::daily_quota.
/// - 401, 402, 403, 404, 405, 410 and every 3xx: refusal::sending_paused.
/// - 408, 409, 5xx, nothing, cut, too long: `unknown`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/providers/provider.hpp"

namespace paceline {

struct batch_options {
  std::string endpoint = "https://api.resend.com"; ///< scheme, host and port
  std::string key;                                 ///< the API key, for `Authorization: Bearer`
  std::string ca_file;                             ///< PEM; empty: the system's authorities
  bool allow_private = false;                      ///< see `is_public_address`
  std::int32_t batch_size = 100;                   ///< messages in a request
  std::size_t max_body = 30 << 20;                 ///< octets; more begin another request
  std::int32_t max_connections = 8;
  std::int32_t warm_connections = 0; ///< opened at once
  nanoseconds connect_timeout = std::chrono::seconds{5};
  nanoseconds total_timeout = std::chrono::seconds{30}; ///< of a request
};

/// Throws std::runtime_error where `ca_file` can't be read or the key can't stand in a header: call
/// it before anything else starts. `loop` outlives the provider.
///
/// `ask_quota` never makes a request: 2 requests a second until answers tell the limit.
/// `ask_health` sends an empty batch, which a provider that is well refuses with 422.
std::unique_ptr<provider> make_batch_provider(reactor& loop, batch_options options);

} // namespace paceline
