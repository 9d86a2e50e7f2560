/// How long a claim that is older than a change may still start a call.
#pragma once

#include <chrono>

namespace paceline {

/// After this no claim older than our commit can start a call. No shard uses a slot later than 1 s
/// after it last read the route, and a slot is lost once it was missed by more than 5 ms + 50 ms;
/// the rest covers the clocks' distance.
constexpr std::chrono::milliseconds claim_horizon{1100};

} // namespace paceline
