#include "actors/dispatch/backoff.hpp"

#include <algorithm>

namespace paceline {

nanoseconds throttle_backoff(std::int32_t throttles_before, nanoseconds first,
                             nanoseconds longest) {
  nanoseconds wait = std::min(first, longest);
  for (std::int32_t i = 0; i < throttles_before && wait < longest; ++i)
    wait = wait > longest / 2 ? longest : wait * 2;
  return wait;
}

nanoseconds full_jitter(nanoseconds longest, std::uint64_t random) {
  if (longest.count() <= 0)
    return nanoseconds{0};
  return nanoseconds{static_cast<std::int64_t>(random % static_cast<std::uint64_t>(longest.count()))
                     + 1};
}

} // namespace paceline
