/// Waits that are spread at random, so that those who failed together don't come back together.
#pragma once

#include <cstdint>

#include "storage/model/instants.hpp"

namespace paceline {

/// Full jitter: evenly spread over (0, `longest`], from `random` (any 64 bits).
constexpr nanoseconds full_jitter(nanoseconds longest, std::uint64_t random) {
  if (longest.count() <= 0)
    return nanoseconds{0};
  return nanoseconds{static_cast<std::int64_t>(random % static_cast<std::uint64_t>(longest.count()))
                     + 1};
}

} // namespace paceline
