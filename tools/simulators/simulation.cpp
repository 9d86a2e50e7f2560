#include "tools/simulators/simulation.hpp"

#include <algorithm>
#include <cmath>

namespace paceline::simulators {
namespace {

/// So that a token which is due exactly now is not missed by the last bit of a sum.
constexpr double rounding = 1e-6;
constexpr std::size_t most_remembered = 100'000;

} // namespace

token_bucket::token_bucket(double rate, double tolerance, instant now)
    : refill_(rate * tolerance), capacity_(3 + 0.05 * rate), tokens_(capacity_), filled_(now) {}

bool token_bucket::take(double count, instant now) {
  if (now > filled_) {
    tokens_ = std::min(capacity_,
                       tokens_ + refill_ * std::chrono::duration<double>(now - filled_).count());
    filled_ = now;
  }
  if (tokens_ + rounding < std::min(count, capacity_))
    return false;
  tokens_ -= count;
  return true;
}

simulation::simulation(const simulation_options& options)
    : options_(options), ledger_(options.ledger, options.keep, options.route),
      bucket_(options.rate, options.tolerance, std::chrono::steady_clock::now()),
      generator_(options.seed) {}

/// Log-normal with that mean: real latencies have a long right side and no negative one.
nanoseconds simulation::draw_latency() {
  const double spread = options_.jitter;
  const double factor =
      spread > 0 ? std::exp(spread * normal_(generator_) - spread * spread / 2) : 1;
  return std::chrono::duration_cast<nanoseconds>(
      std::chrono::duration<double, std::milli>{options_.latency_ms * factor});
}

nanoseconds simulation::take_connection() {
  count("connections");
  return std::chrono::duration_cast<nanoseconds>(
      std::chrono::duration<double, std::milli>{options_.connect_ms});
}

behaviour simulation::draw_fault(call_kind kind, bool is_reused) {
  const bool concerned = kind == call_kind::send ? fault_.sends : fault_.account;
  if (fault_.what == behaviour::success || !concerned || (fault_.reused_only && !is_reused))
    return behaviour::success;
  if (fault_.share < 1 && uniform_(generator_) >= fault_.share)
    return behaviour::success;
  count("faults");
  return fault_.what;
}

refusal simulation::take_quota(std::int64_t count, instant now) {
  if (options_.daily_quota > 0 && sent_ + count > options_.daily_quota)
    return refusal::daily;
  return bucket_.take(static_cast<double>(count), now) ? refusal::none : refusal::rate;
}

bool simulation::is_first_time(const std::string& message) {
  if (seen_.size() >= most_remembered)
    seen_.clear();
  return seen_.insert(message).second;
}

bool simulation::accept(const message_tags& who, std::string_view raw, std::size_t recipients,
                        bool unanswered) {
  if (!ledger_.append(who, raw, recipients, unanswered)) {
    count("ledger_errors");
    return false;
  }
  sent_ += static_cast<std::int64_t>(recipients);
  count("accepted");
  count("recipients", static_cast<std::int64_t>(recipients));
  if (unanswered)
    count("unanswered");
  return true;
}

void simulation::count(std::string_view what, std::int64_t by) {
  if (const auto known = counters_.find(what); known != counters_.end())
    known->second += by;
  else
    counters_.emplace(what, by);
}

void simulation::set_rate(double rate, double tolerance, instant now) {
  options_.rate = rate;
  options_.tolerance = tolerance;
  bucket_ = token_bucket(rate, tolerance, now);
}

void simulation::set_latency(double mean_ms, double jitter) {
  options_.latency_ms = mean_ms;
  options_.jitter = jitter;
}

} // namespace paceline::simulators
