/// How many messages a key may hand in: at most so many in every 60 s, wherever they begin.
///
/// Counts are kept per tenth of a second and let go a minute after that tenth has ended, so that
/// rounding only ever forbids. Time comes in as an argument. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>

#include "storage/model/instants.hpp"

namespace paceline {

class sliding_window {
public:
  static constexpr nanoseconds length = std::chrono::seconds{60};
  static constexpr nanoseconds grain = std::chrono::milliseconds{100};
  /// What `wait_for` says of more than the limit: it never fits.
  static constexpr nanoseconds never = nanoseconds::max();

  explicit sliding_window(std::int64_t limit) : limit_(limit) {}

  std::int64_t limit() const { return limit_; }
  /// What was taken stays counted.
  void set_limit(std::int64_t limit) { limit_ = limit; }

  /// Zero: `count` (1 or more) fit now. Otherwise they fit after so long if nobody else takes any.
  nanoseconds wait_for(std::int64_t count, boot_instant now);
  /// Takes them if they fit.
  bool take(std::int64_t count, boot_instant now);
  /// Nothing is counted any more.
  bool is_empty(boot_instant now) const;

private:
  struct slot {
    boot_instant expires; ///< from then on it doesn't count
    std::int64_t count = 0;
  };
  void forget(boot_instant now);

  std::int64_t limit_;
  std::int64_t used_ = 0;
  std::deque<slot> slots_; ///< at most 601, oldest first
};

} // namespace paceline
