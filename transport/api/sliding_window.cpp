#include "transport/api/sliding_window.hpp"

namespace paceline {

void sliding_window::forget(boot_instant now) {
  while (!slots_.empty() && slots_.front().expires <= now) {
    used_ -= slots_.front().count;
    slots_.pop_front();
  }
}

nanoseconds sliding_window::wait_for(std::int64_t count, boot_instant now) {
  forget(now);
  if (count > limit_)
    return never;
  auto excess = used_ + count - limit_;
  if (excess <= 0)
    return nanoseconds{0};
  for (const auto& slot : slots_) {
    excess -= slot.count;
    if (excess <= 0)
      return slot.expires - now;
  }
  return length; // not reached: all slots together hold `used_`
}

bool sliding_window::take(std::int64_t count, boot_instant now) {
  if (wait_for(count, now) > nanoseconds{0})
    return false;
  const auto grains = now.time_since_epoch() / grain;
  const boot_instant expires{(grains + 1) * grain + length};
  // Threads may come in another order than they have read the clock: later only forbids more.
  if (slots_.empty() || slots_.back().expires < expires)
    slots_.push_back({expires, 0});
  slots_.back().count += count;
  used_ += count;
  return true;
}

bool sliding_window::is_empty(boot_instant now) const {
  return slots_.empty() || slots_.back().expires <= now;
}

} // namespace paceline
