/// What a shard knows of a provider that fails: the courier's breaker holds messages back and says
/// for how long. Until one of its own is accepted again the shard claims one message at a time, so
/// that an outage moves few rows back and forth.
///
/// Pure; one per shard, owned by its policy.
#pragma once

#include <algorithm>
#include <optional>

#include "storage/model/instants.hpp"
#include "storage/model/outcome.hpp"

namespace paceline {

class provider_hold {
public:
  /// How many messages may be claimed at `now`: no limit (empty), one, or none (0).
  std::optional<std::int32_t> allowance(database_instant now) const {
    if (!is_holding_)
      return std::nullopt;
    // A wait longer than the longest means that the clock was set back: don't sit it out.
    const bool is_over = now >= until_ || until_ - now > longest;
    return trying_ || !is_over ? 0 : 1;
  }
  bool is_holding() const { return is_holding_; }
  /// When the next message may try; nothing while one does.
  std::optional<database_instant> until() const {
    return trying_ ? std::nullopt : std::optional{until_};
  }

  /// The one message is being claimed.
  void on_try(message_id id) {
    if (is_holding_)
      trying_ = id;
  }
  /// It was not claimed after all.
  void on_not_claimed(message_id id) { forget(id); }
  void on_outcome(const outcome& what, database_instant now) {
    forget(what.of.message);
    if (what.kind == outcome_kind::accepted)
      is_holding_ = false;
    if (what.reason != reason_code::provider_down)
      return;
    const auto wait = std::clamp(what.retry_after.value_or(longest), nanoseconds{0}, longest);
    until_ = is_holding_ ? std::max(until_, now + wait) : now + wait;
    is_holding_ = true;
  }

private:
  static constexpr nanoseconds longest = std::chrono::seconds{10};

  void forget(message_id id) {
    if (trying_ == id)
      trying_.reset();
  }

  bool is_holding_ = false;
  database_instant until_{};
  std::optional<message_id> trying_;
};

} // namespace paceline
