/// A quota as providers enforce it: tokens that refill steadily up to a cap. Pure.
#pragma once

#include <cstdint>

#include "storage/model/instants.hpp"
#include "storage/model/rate.hpp"

namespace paceline {

class token_bucket {
public:
  /// Full at `now`. Refills at `refill` tokens per second up to `capacity` tokens.
  token_bucket(double refill_per_second, double capacity, boot_instant now);

  /// Takes `count` tokens if there are that many. More than the capacity is let through when the
  /// bucket is full and leaves a debt: otherwise a large message could never pass a small quota.
  bool take(std::int64_t count, boot_instant now);

private:
  double refill_;
  double capacity_;
  double tokens_;
  boot_instant filled_;
};

} // namespace paceline
