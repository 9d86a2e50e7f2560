#include "test/support/waiting.hpp"

#include <poll.h>
#include <time.h>

namespace paceline::test {

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience) {
  constexpr int between_looks_ms = 10;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end)
      return false;
    ::poll(nullptr, 0, between_looks_ms);
  }
  return true;
}

void hold_fault_for(std::chrono::microseconds length) {
  const timespec wait{length.count() / 1'000'000, length.count() % 1'000'000 * 1000};
  ::ppoll(nullptr, 0, &wait, nullptr);
}

} // namespace paceline::test
