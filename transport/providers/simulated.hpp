/// A provider in process for test environments: latency, quota and outcomes as a real one would
/// have them.
///
/// - Latency: log-normal with mean `latency` and relative spread `jitter`; from a seeded generator.
/// - Quota: a token bucket per recipient that refills at `tolerance x rate` and holds
///   `3 + 0.05 x rate`; a call that finds it empty is throttled (429, refusal::rate). `daily_quota`
///   > 0 refuses beyond it (refusal::daily_quota).
/// - Outcomes by the local part of addresses at `simulator.paceline.test`, labels after `+` apart:
///   success, throttle (429 for the rate every time), daily-quota, paused (account), reject, error
///   (5xx: unknown), timeout (no answer), hang (answers late, after 60 s), disconnect (connection
///   lost after writing: unknown), unreachable (before writing: not_started), malformed (unreadable
///   2xx: unknown), slow (10 x latency), once-throttle (429 the first time a message asks, then
///   success). Any other address succeeds.
/// - Ledger: every accepted call appends one JSON line with one `write` to a file opened O_APPEND
///   before it is answered: {"message","version","started_ns","recipients","node","route"}. So it
///   survives kill -9 and is the proof for "never twice" and "never too fast". A call whose outcome
///   is unknown to the caller but which a provider would have accepted (timeout, hang, disconnect,
///   malformed, error) is written too, with "unanswered": true for those.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/providers/provider.hpp"

namespace paceline {

struct simulated_options {
  nanoseconds latency = std::chrono::milliseconds{170};
  double jitter = 0.1; ///< 0 to 1
  rate quota = rate::per_second(5000);
  double tolerance = 1.15;
  std::int64_t daily_quota = 0; ///< 0: unlimited
  std::string ledger;           ///< path; empty: none
  std::uint64_t seed = 1;
  std::string node;  ///< name for the ledger
  std::string route; ///< text for the ledger
};

/// Throws std::system_error if the ledger can't be opened: call it before anything else starts.
std::unique_ptr<provider> make_simulated_provider(reactor&, const simulated_options&);

} // namespace paceline
