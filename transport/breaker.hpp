/// The breaker: keeps a route from starting calls while its provider fails hard, so that an outage
/// costs a bounded number of messages whose fate nobody knows.
///
/// Hard failures are `unknown` outcomes (timeouts, 5xx, cut answers), `not_started` because the
/// provider could not be reached, and refusals for the time being (503). Refusals for the rate and
/// of one message are answers of a provider that works: they count neither way. Five hard failures
/// in a row, or half of the last twenty, open the breaker. Then one message at a time probes, after
/// a wait that doubles from 1 s to 60 s (full jitter). An accepted probe closes it; one that was
/// merely answered is followed by the next within `first_wait`.
///
/// However long an outage lasts, at most `unknown_budget` messages plus those that were in flight
/// when it opened become unknown: when probes have used up that budget, none is sent until
/// `on_provider_alive`. Probes that provably hand nothing over cost nothing of it.
///
/// Pure; one per route of a node, owned by the courier.
#pragma once

#include <cstdint>
#include <string_view>
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
  waiting, ///< open: nothing may start before `probe_at`
  probing, ///< one message is out; nothing else may start
  stopped, ///< the budget of unknown messages is spent; waits for `on_provider_alive`
};

inline constexpr std::size_t breaker_states = 4;

/// `closed` etc., as metrics spell it.
constexpr std::string_view name(breaker_state state) {
  switch (state) {
  case breaker_state::closed:
    return "closed";
  case breaker_state::waiting:
    return "waiting";
  case breaker_state::probing:
    return "probing";
  case breaker_state::stopped:
    return "stopped";
  }
  return {};
}

/// What an outcome says about the provider.
enum class health_sign { good, hard_failure_unknown, hard_failure_untaken, answered, nothing };
health_sign sign_of(const outcome& what);

class breaker {
public:
  explicit breaker(breaker_settings settings = {}) : settings_(settings) {}

  breaker_state state() const { return state_; }
  enum class permission { go, probe, no };
  /// Whether a message may start at `now`: as any other, as the one that probes, or not.
  permission may_start(boot_instant now) const;
  /// When the next probe is due; only in `waiting`.
  boot_instant probe_at() const { return probe_at_; }

  /// The probing message starts.
  void on_probe_started();
  /// An outcome came. `is_probe`: it is the probing message's; if that ended without a word from
  /// the provider (its slot was missed), the next one may follow at once. `random`: any 64 bits.
  void on_outcome(const outcome& what, bool is_probe, boot_instant now, std::uint64_t random);
  /// A call that sends no message has worked: the next outcome decides, with a fresh budget.
  void on_provider_alive(boot_instant now);

private:
  void on_counted(bool hard, boot_instant now, std::uint64_t random);
  void on_probe_sign(health_sign sign, boot_instant now, std::uint64_t random);
  void open(boot_instant now, std::uint64_t random);
  void close();

  breaker_settings settings_;
  breaker_state state_ = breaker_state::closed;
  std::vector<bool> recent_; ///< true: hard failure; oldest first
  std::int32_t in_a_row_ = 0;
  std::int32_t budget_left_ = 0;
  nanoseconds wait_{};
  boot_instant probe_at_ = boot_instant::min();
};

} // namespace paceline
