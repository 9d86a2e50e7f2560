/// Waiting times that double.
#pragma once

#include <cstdint>

#include "storage/model/instants.hpp"

namespace paceline {

/// How long a throttled message waits: 2, 4, 8, 16, 32 s and then always 32 s. `throttles_before`
/// counts this message's earlier throttles (0 for the first). No throttle ever rejects a message.
nanoseconds throttle_backoff(std::int32_t throttles_before,
                             nanoseconds first = std::chrono::seconds{2},
                             nanoseconds longest = std::chrono::seconds{32});

/// Full jitter: evenly spread over (0, `longest`], from `random` (any 64 bits).
nanoseconds full_jitter(nanoseconds longest, std::uint64_t random);

} // namespace paceline
