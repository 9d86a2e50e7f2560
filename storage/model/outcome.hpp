/// What became of one attempt to hand a message to the provider.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"
#include "storage/model/state.hpp"

namespace paceline {

enum class outcome_kind {
  accepted,    ///< the provider has it
  throttled,   ///< the provider refused for now; provably not taken; goes back unspent. Without a
               ///< refusal of its own kind: this message later, nothing else changes
  rejected,    ///< the provider refused this message for good
  unknown,     ///< may have been taken; never sent again by itself
  not_started, ///< provably not taken: no request byte was written
};

inline constexpr std::size_t outcome_kinds = 5;

/// `accepted` etc., as metrics spell it.
constexpr std::string_view name(outcome_kind kind) {
  switch (kind) {
  case outcome_kind::accepted:
    return "accepted";
  case outcome_kind::throttled:
    return "throttled";
  case outcome_kind::rejected:
    return "rejected";
  case outcome_kind::unknown:
    return "unknown";
  case outcome_kind::not_started:
    return "not_started";
  }
  return {};
}

/// Which of the four refusals it was; only `throttled` and `rejected` carry one.
enum class refusal {
  none,
  rate,           ///< too fast: brakes the route for 10 s
  daily_quota,    ///< the route waits until quota frees
  sending_paused, ///< account suspended or sending paused: the route stops, messages stay queued
  this_message,   ///< only this message is at fault
  stream,         ///< what the stream's messages share is at fault (sender not verified, ...): a
                  ///< campaign pauses with the reason, direct mail of that kind is rejected
};

/// Identifies one attempt: a record with another version changes nothing.
struct attempt {
  message_id message;
  std::int32_t version = 0;
  friend auto operator<=>(const attempt&, const attempt&) = default;
};

struct outcome {
  attempt of;
  outcome_kind kind = outcome_kind::unknown;
  refusal refused = refusal::none;
  reason_code reason = reason_code::none;
  std::string provider_id; ///< the provider's name for it; empty unless accepted
  std::string diagnostic;  ///< text from outside, uncleaned, for the operator; at most 1,000 octets
  std::optional<database_instant> started_at; ///< when the call started; empty if it did not
  std::optional<nanoseconds> retry_after;     ///< the provider's wish, if it gave one
};

} // namespace paceline
