/// Time, in two kinds that can't be mixed.
///
/// A *boot instant* is a reading of this machine's CLOCK_BOOTTIME: it only moves forward, also
/// while the machine sleeps, and means nothing to another machine. Deadlines and waits use it. A
/// *database instant* is what PostgreSQL's `clock_timestamp()` would say, in nanoseconds since
/// 1970: the one clock that all nodes share. The route's grid and all stored times use it. They are
/// time points of different clocks, so the compiler refuses to compare or subtract them;
/// `actors/cluster/clock_estimate.hpp` is the only place that translates.
#pragma once

#include <chrono>
#include <cstdint>

namespace paceline {

using nanoseconds = std::chrono::duration<std::int64_t, std::nano>;

/// CLOCK_BOOTTIME of this machine.
struct boot_clock {
  using duration = nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;
  /// Thread-safe, does not allocate.
  static time_point now() noexcept;
};

/// The clock of the PostgreSQL server. It has no `now()`: nobody can read it without a round trip.
struct database_clock {
  using duration = nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<database_clock>;
  static constexpr bool is_steady = false;
};

using boot_instant = boot_clock::time_point;
using database_instant = database_clock::time_point;

/// Where actors and the courier read the time; tests put a virtual clock in its place.
class boot_time {
public:
  virtual ~boot_time() = default;
  /// Thread-safe.
  virtual boot_instant now() const noexcept = 0;
};

/// The real clock.
class machine_boot_time final : public boot_time {
public:
  boot_instant now() const noexcept override { return boot_clock::now(); }
};

} // namespace paceline
