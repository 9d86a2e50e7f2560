/// What the database's clock says, estimated from round trips to it.
///
/// A round trip that left at boot instant b1, read the database's clock as d and came back at b2
/// proves `database - boot` to lie in [d - b2, d - b1]. The estimate intersects these intervals,
/// widened by 20 ppm for the time between them, and aims at the middle. A correction backward
/// applies at once; one forward is slewed by at most 1 ms per second, so that slots come no faster
/// than they should (but at once while the error exceeds `largest_error`: nothing is started then).
/// Round trips that contradict each other by more than `step_threshold` mean that
/// the database's clock was set: the estimate starts over and reports the step, and the route
/// starts a new grid.
///
/// The only place that translates between the two kinds of instants. Pure; one per node, copied by
/// value to whoever needs it.
#pragma once

#include <optional>

#include "storage/model/instants.hpp"

namespace paceline {

/// The database's clock was set: new reckoning minus old.
struct clock_step {
  nanoseconds by{};
};

class clock_estimate {
public:
  /// Disagreement beyond what round trips and drift explain. Above it slewing would take longer
  /// than a new grid: at 3 ms of error a node starts nothing, and 5 ms are slewed in 5 s.
  static constexpr nanoseconds step_threshold = std::chrono::milliseconds{5};
  /// A node whose error exceeds this starts nothing (promise 3).
  static constexpr nanoseconds largest_error = std::chrono::milliseconds{3};

  /// Takes a round trip, b1 <= b2; b1 not before the one of the last round trip taken. Returns the
  /// step if there was one. Earlier translations are no longer right then: shift the gates.
  std::optional<clock_step> on_round_trip(boot_instant b1, database_instant d, boot_instant b2);

  /// False until the first round trip; `at` and `boot_at` need it to be true.
  bool is_known() const { return known_; }
  database_instant at(boot_instant when) const;
  /// The boot instant at which `at` reaches `when`.
  boot_instant boot_at(database_instant when) const;
  /// How far `at(when)` may be from the truth, either way.
  nanoseconds error(boot_instant when) const;
  bool is_good(boot_instant when) const { return known_ && error(when) <= largest_error; }

private:
  struct interval {
    nanoseconds low{};
    nanoseconds high{};
  };
  interval widened(boot_instant when) const;
  nanoseconds offset(boot_instant when) const;
  void restart(interval bounds, nanoseconds target, boot_instant when);
  void aim(nanoseconds target, boot_instant when, bool slew);

  bool known_ = false;
  interval bounds_; ///< of database - boot, as of `bounds_at_`
  boot_instant bounds_at_{};
  nanoseconds base_{}; ///< offset applied at `base_at_`
  boot_instant base_at_{};
  nanoseconds target_{}; ///< where the offset goes: base_ <= target_
};

} // namespace paceline
