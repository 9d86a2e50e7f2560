#include "actors/cluster/clock_estimate.hpp"

#include <algorithm>

namespace paceline {
namespace {

/// How fast two quartz clocks may part: 20 ppm is 1 ns in 50,000.
constexpr std::int64_t drift_divisor = 50'000;
/// Forward corrections: 1 ms per second is 1 ns in 1,000.
constexpr std::int64_t slew_divisor = 1'000;

} // namespace

clock_estimate::interval clock_estimate::widened(boot_instant when) const {
  const nanoseconds since = std::max(when - bounds_at_, nanoseconds{0});
  const nanoseconds drift{since.count() / drift_divisor + 1};
  return {bounds_.low - drift, bounds_.high + drift};
}

std::optional<clock_step> clock_estimate::on_round_trip(boot_instant b1, database_instant d,
                                                        boot_instant b2) {
  const interval proof{d.time_since_epoch() - b2.time_since_epoch(),
                       d.time_since_epoch() - b1.time_since_epoch()};
  const nanoseconds middle = proof.low + (proof.high - proof.low) / 2;
  if (!known_) {
    known_ = true;
    restart(proof, middle, b2);
    return std::nullopt;
  }
  const interval before = widened(b2);
  const nanoseconds apart = std::max(proof.low - before.high, before.low - proof.high);
  if (apart > step_threshold) {
    const clock_step step{middle - offset(b2)};
    restart(proof, middle, b2);
    return step;
  }
  const bool was_good = is_good(b2);
  bounds_ = proof;
  if (apart <= nanoseconds{0})
    bounds_ = {std::max(proof.low, before.low), std::min(proof.high, before.high)};
  bounds_at_ = b2;
  aim(bounds_.low + (bounds_.high - bounds_.low) / 2, b2, was_good);
  return std::nullopt;
}

void clock_estimate::restart(interval bounds, nanoseconds target, boot_instant when) {
  bounds_ = bounds;
  bounds_at_ = when;
  base_ = target_ = target;
  base_at_ = when;
}

void clock_estimate::aim(nanoseconds target, boot_instant when, bool slew) {
  const nanoseconds present = offset(when);
  base_ = slew ? std::min(present, target) : target;
  base_at_ = when;
  target_ = target;
}

nanoseconds clock_estimate::offset(boot_instant when) const {
  if (when <= base_at_)
    return base_;
  return std::min(target_, base_ + (when - base_at_) / slew_divisor);
}

database_instant clock_estimate::at(boot_instant when) const {
  return database_instant{when.time_since_epoch() + offset(when)};
}

boot_instant clock_estimate::boot_at(database_instant when) const {
  const boot_instant arrived{when.time_since_epoch() - target_};
  if (offset(arrived) == target_)
    return arrived;
  const boot_instant unslewed{when.time_since_epoch() - base_};
  if (unslewed <= base_at_)
    return unslewed;
  // Within the slew: t nanoseconds after base_at_ the estimate has moved t + t / slew_divisor.
  const std::int64_t moved = (unslewed - base_at_).count();
  std::int64_t t = moved - moved / (slew_divisor + 1);
  while (t + t / slew_divisor < moved)
    ++t;
  while (t > 0 && t - 1 + (t - 1) / slew_divisor >= moved)
    --t;
  return base_at_ + nanoseconds{t};
}

nanoseconds clock_estimate::error(boot_instant when) const {
  const interval now = widened(when);
  const nanoseconds applied = offset(when);
  return std::max(now.high - applied, applied - now.low);
}

} // namespace paceline
