/// Where a message is in its life, as stored. Numbers are never renumbered; `rank` orders them for
/// feedback. docs/state-machine.md draws the transitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace paceline {

enum class message_status : std::int16_t {
  queued = 0,
  attempting = 1, ///< claimed; the provider may have been called
  acceptance_unknown =
      2, ///< nobody can tell whether the provider took it; never sent again by itself
  accepted = 3,
  sent = 4,
  delayed = 5,
  delivered = 6,
  bounced = 7,
  rejected = 8,
  rendering_failed = 9,
  suppressed = 10,
  canceled = 11,
  expired = 12,
  complained = 13,
};

/// 0 (queued) to 7 (complained): feedback applies only where its rank is not lower.
int rank(message_status status);

/// `acceptance_unknown` etc., as SQL, logs and the CLI spell it.
std::string_view name(message_status status);
std::optional<message_status> parse_status(std::string_view name);

/// Open messages are those a campaign still waits for: queued and attempting.
constexpr bool is_open(message_status status) {
  return status == message_status::queued || status == message_status::attempting;
}

/// Why a message is where it is. Stored; never renumbered.
enum class reason_code : std::int16_t {
  none = 0,
  interrupted_provider_attempt = 1, ///< the node died between claim and record
  provider_timeout = 2,             ///< written, then no answer in time
  provider_connection_lost = 3,     ///< written, then the connection broke
  provider_server_error = 4,        ///< 5xx or an answer nobody can read
  provider_rejected = 5,            ///< the provider refused this message for good
  provider_throttled = 6,           ///< 429 for the rate
  provider_daily_quota = 7,
  provider_sending_paused = 8, ///< the account may not send
  slot_missed = 9,             ///< its slot passed unused; nothing was sent
  ownership_lost = 10,
  stream_stopped = 11, ///< paused between claim and start
  node_stopping = 12,
  recipient_suppressed = 13,
  campaign_canceled = 14,
  message_expired = 15,
  rendering_error = 16,
  invalid_recipient = 17,
  operator_resolved = 18,
  operator_canceled = 19,
  key_revoked = 20,
  route_braked = 21,
  provider_unreachable = 22, ///< failed before the first request byte
  sender_not_allowed = 23,   ///< the project may not send from this domain (any more)
  route_paused = 24,         ///< by an operator, between claim and start
  provider_unavailable = 25, ///< refused for now, without regard to the rate; nothing was taken
  provider_down = 26,        ///< not started: the provider has failed too often, see `breaker`
  batch_refused = 27,        ///< refused together with others; goes again in a request of its own
  stream_refused = 28,       ///< the provider refuses what the stream's messages share
  signature_refused = 29,    ///< clock or credentials were behind; signed anew the next time
};

/// `INTERRUPTED_PROVIDER_ATTEMPT` etc.; empty for `none`.
std::string_view name(reason_code reason);

} // namespace paceline
