#include "transport/providers/token_bucket.hpp"

#include <algorithm>

namespace paceline {
namespace {

/// So that a token which is due exactly now is not missed by the last bit of a sum.
constexpr double rounding = 1e-6;

} // namespace

token_bucket::token_bucket(double refill_per_second, double capacity, boot_instant now)
    : refill_(refill_per_second), capacity_(capacity), tokens_(capacity), filled_(now) {}

bool token_bucket::take(std::int64_t count, boot_instant now) {
  if (now > filled_) {
    auto seconds = std::chrono::duration<double>(now - filled_).count();
    tokens_ = std::min(capacity_, tokens_ + seconds * refill_);
    filled_ = now;
  }
  auto wanted = static_cast<double>(count);
  if (tokens_ + rounding < std::min(wanted, capacity_))
    return false;
  tokens_ -= wanted;
  return true;
}

} // namespace paceline
