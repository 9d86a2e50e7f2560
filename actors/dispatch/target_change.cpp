#include "actors/dispatch/target_change.hpp"

#include <algorithm>

namespace paceline {
namespace {

std::int64_t next_number(const route_pace& pace) {
  return std::max(pace.current.number, pace.next ? pace.next->number : 0) + 1;
}

} // namespace

route_pace with_target(const route_pace& pace, rate target, database_instant now) {
  if (pace.current.number == 0 && !pace.next)
    return with_fresh_grid(pace, target, now);
  route_pace changed = pace;
  changed.next = grid{next_number(pace), now + grid_lead, target};
  if (pace.next)
    changed.current = *pace.next;
  // A current grid that begins later than the new one (a clock that went back) would overlap it.
  changed.next->start = std::max(changed.next->start, changed.current.start);
  return changed;
}

route_pace with_fresh_grid(const route_pace& pace, rate target, database_instant now) {
  route_pace changed = pace;
  changed.current = grid{next_number(pace), now + grid_lead, target};
  changed.next.reset();
  return changed;
}

route_pace with_brake(const route_pace& pace, rate target, database_instant now,
                      nanoseconds brake) {
  route_pace changed = with_fresh_grid(pace, target, now);
  changed.brake_until = now + brake;
  return changed;
}

rate braked_target(rate seen, std::optional<rate> raw_quota) {
  if (raw_quota)
    return *raw_quota;
  return rate::from_millihertz(std::max<std::int64_t>(1, seen.millihertz() / 2));
}

rate target_at(database_instant now, database_instant brake_until, rate seen,
               std::optional<rate> raw_quota, rate full) {
  return now < brake_until ? braked_target(seen, raw_quota) : full;
}

} // namespace paceline
