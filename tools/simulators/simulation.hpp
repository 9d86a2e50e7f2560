/// What all stand-ins have in common: chance, quota, the fault that is switched on, counters, and
/// the ledger. Used by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "tools/simulators/acceptance_ledger.hpp"
#include "tools/simulators/behaviour.hpp"

namespace paceline::simulators {

using instant = std::chrono::steady_clock::time_point;
using nanoseconds = std::chrono::nanoseconds;

struct simulation_options {
  double latency_ms = 170;      ///< mean
  double jitter = 0.1;          ///< relative spread of the log-normal latency; 0: none
  double connect_ms = 0;        ///< before the TLS handshake: a network\'s round trips
  double rate = 5000;           ///< per second
  double tolerance = 1.15;      ///< how much faster than its rate the provider lets pass
  std::int64_t daily_quota = 0; ///< 0: unlimited
  std::uint64_t seed = 1;
  std::string ledger, keep, route;
};

/// Tokens that refill at `tolerance` x rate up to 3 + 5 % of the rate.
class token_bucket {
public:
  token_bucket(double rate, double tolerance, instant now);
  /// More than the capacity passes where the bucket is full, and leaves a debt.
  bool take(double count, instant now);

private:
  double refill_, capacity_, tokens_;
  instant filled_;
};

enum class refusal { none, rate, daily };

/// Which calls a fault of the control endpoint is for.
enum class call_kind { send, account };

/// The fault that is switched on.
struct active_fault {
  behaviour what = behaviour::success;
  double share = 1; ///< of the calls, by chance
  bool sends = true, account = false;
  bool reused_only = false; ///< spares the first request of a connection
};

class simulation {
public:
  /// Throws as acceptance_ledger does.
  explicit simulation(const simulation_options& options);

  nanoseconds draw_latency();
  /// Counts a connection; how long until its handshake.
  nanoseconds take_connection();
  /// What the switched-on fault does with this call; `success` where it spares it.
  behaviour draw_fault(call_kind kind, bool is_reused);

  /// Takes `count` out of rate and daily quota, or says which of them has no room for it.
  refusal take_quota(std::int64_t count, instant now);
  /// True the first time it is asked for a message. Remembers the last 100,000.
  bool is_first_time(const std::string& message);

  /// Counts and appends to the ledger. False where that failed: answer with an error then.
  bool accept(const message_tags& who, std::string_view raw, std::size_t recipients,
              bool unanswered);
  void count(std::string_view what, std::int64_t by = 1);
  const std::map<std::string, std::int64_t, std::less<>>& counters() const { return counters_; }

  /// Each call starts a new, full bucket.
  void set_rate(double rate, double tolerance, instant now);
  void set_daily_quota(std::int64_t quota) { options_.daily_quota = quota; }
  void set_latency(double mean_ms, double jitter);
  void set_connect(double delay_ms) { options_.connect_ms = delay_ms; }
  void set_hang(nanoseconds time) { hang_ = time; }
  void set_fault(const active_fault& what) { fault_ = what; }

  const simulation_options& options() const { return options_; }
  const active_fault& fault() const { return fault_; }
  nanoseconds hang() const { return hang_; }
  std::int64_t sent() const { return sent_; }

private:
  simulation_options options_;
  acceptance_ledger ledger_;
  token_bucket bucket_;
  active_fault fault_;
  nanoseconds hang_ = std::chrono::seconds{60};
  std::int64_t sent_ = 0; ///< recipients; we don't run for 24 hours
  std::map<std::string, std::int64_t, std::less<>> counters_;
  std::set<std::string> seen_;
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_{0, 1};
};

} // namespace paceline::simulators
