/// The wall clock, for new ids and for nothing else: no deadline, no wait and no stored time comes
/// from it (storage/model/instants.hpp says what they use).
#pragma once

#include <chrono>
#include <cstdint>

namespace paceline {

/// Milliseconds since 1970, as `id_source::next` takes them.
inline std::int64_t wall_clock_ms() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

} // namespace paceline
