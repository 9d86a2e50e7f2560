#include "storage/model/instants.hpp"

#include <ctime>

namespace paceline {

boot_instant boot_clock::now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return boot_instant{std::chrono::seconds{t.tv_sec} + nanoseconds{t.tv_nsec}};
}

} // namespace paceline
