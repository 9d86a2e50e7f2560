/// Rates as exact integers, so that a grid computed on two nodes is the same grid.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include "storage/model/instants.hpp"

namespace paceline {

/// Recipients per second, stored in thousandths ("millihertz"): 22/s is 22,000. Zero means "nothing
/// may start".
class rate {
public:
  constexpr rate() = default;
  static constexpr rate from_millihertz(std::int64_t value) { return rate{value}; }
  /// Rounded down to the thousandth, so that a target never exceeds what was asked for.
  static rate per_second(double value) {
    return rate{static_cast<std::int64_t>(std::floor(value * 1000.0 + 1e-6))};
  }

  constexpr std::int64_t millihertz() const { return millihertz_; }
  constexpr double per_second() const { return static_cast<double>(millihertz_) / 1000.0; }
  constexpr bool is_zero() const { return millihertz_ <= 0; }
  /// One period in nanoseconds, rounded down; the rate must not be zero.
  constexpr nanoseconds period() const { return nanoseconds{1'000'000'000'000 / millihertz_}; }
  friend constexpr auto operator<=>(const rate&, const rate&) = default;

private:
  constexpr explicit rate(std::int64_t value) : millihertz_(value) {}
  std::int64_t millihertz_ = 0;
};

/// A route's grid: slot s is at `start + s / target`, s = 1, 2, ...
/// `number` rises with every change of target; 0 is "no grid yet".
struct grid {
  std::int64_t number = 0;
  database_instant start{};
  rate target;
  friend bool operator==(const grid&, const grid&) = default;
};

} // namespace paceline
