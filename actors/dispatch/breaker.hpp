/// The breaker: stops a shard's claiming when the provider fails hard, so that an outage costs a
/// bounded number of messages whose fate nobody knows.
///
/// Hard failures are `unknown` outcomes (timeouts, 5xx, cut answers) and `not_started` because the
/// provider could not be reached. Throttles and refusals of one message are answers of a provider
/// that works: they count neither way. Five hard failures in a row, or half of the last twenty,
/// open the breaker. Then one message at a time probes, after a wait that doubles from 1 s to 60 s
/// (full jitter). An accepted probe closes it; one that was merely answered is followed by the next
/// within `first_wait`.
///
/// However long an outage lasts, at most `unknown_budget` messages plus those that were in flight
/// when it opened become unknown: when probes have used up that budget, none is sent until
/// `on_provider_alive`. Probes that fail before the first request byte cost nothing of it.
///
/// Pure; one per shard, owned by its policy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/model/instants.hpp"
#include "storage/model/outcome.hpp"

namespace paceline {

struct breaker_settings {
  std::int32_t failures_in_a_row = 5;
  std::int32_t window = 20;         ///< outcomes looked at; half of them hard failures open it
  std::int32_t unknown_budget = 20; ///< per outage
  nanoseconds first_wait = std::chrono::seconds{1};
  nanoseconds longest_wait = std::chrono::seconds{60};
};

enum class breaker_state {
  closed,  ///< all is well
  waiting, ///< open: nothing may be claimed before `probe_at`
  probing, ///< one message is out; nothing else may be claimed
  stopped, ///< the budget of unknown messages is spent; waits for `on_provider_alive`
};

/// What an outcome says about the provider.
enum class health_sign { good, hard_failure_unknown, hard_failure_unstarted, answered, nothing };
health_sign sign_of(const outcome& what);

class breaker {
public:
  explicit breaker(breaker_settings settings = {}) : settings_(settings) {}

  breaker_state state() const { return state_; }
  /// How many messages may be claimed at `now`: no limit (empty), one (the probe), or none (0).
  std::optional<std::int32_t> allowance(database_instant now) const;
  /// When the next probe is due; only in `waiting`.
  database_instant probe_at() const { return probe_at_; }

  /// A claim of the one probing message has been asked for.
  void on_probe_claimed();
  /// The probe ended without a word from the provider (claim lost it, slot missed): the next one
  /// may follow at once.
  void on_probe_lost(database_instant now);
  /// An outcome came. `is_probe`: it is the probing message's. `random`: any 64 bits.
  void on_outcome(const outcome& what, bool is_probe, database_instant now, std::uint64_t random);
  /// A call that sends no message has worked after it had failed, or an operator says go on: the
  /// next outcome decides, with a fresh budget.
  void on_provider_alive(database_instant now);

private:
  void on_counted(bool hard, database_instant now, std::uint64_t random);
  void on_probe_sign(health_sign sign, database_instant now, std::uint64_t random);
  void open(database_instant now, std::uint64_t random);
  void close();

  breaker_settings settings_;
  breaker_state state_ = breaker_state::closed;
  std::vector<bool> recent_; ///< true: hard failure; oldest first
  std::int32_t in_a_row_ = 0;
  std::int32_t budget_left_ = 0;
  nanoseconds wait_{};
  database_instant probe_at_ = database_instant::min();
};

} // namespace paceline
