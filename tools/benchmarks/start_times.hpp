/// What the start times of provider calls say about pace. Pure, integer nanoseconds.
///
/// The promise judged here: in every sliding second a route starts at most 1.005 x target + 2
/// recipients, whatever happens; and while there is work the mean stays at the target.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace paceline::bench {

/// One call that the provider took.
struct started_call {
  std::int64_t message = 0;
  std::int64_t started_ns = 0; ///< on the database's clock
  std::int32_t recipients = 1;
  std::int32_t version = 0; ///< of the message: above 0 it had come back before, unsent
};

/// Time from a call's slot to its start, in milliseconds. The grid's phase is taken from the calls
/// themselves (where most of them lie, the earliest of those), so it measures spread: a lateness
/// that all share can't be seen. Calls of another grid show up as late by up to a slot.
struct lateness {
  double median_ms = 0, p99_ms = 0, max_ms = 0;
};

struct pace_figures {
  std::int64_t calls = 0;
  std::int64_t recipients = 0;
  std::int64_t repeats = 0; ///< calls for a message that had one before: must be 0
  /// Recipients per second from the first start to the last; those of the last call don't count,
  /// since their time lies behind it. Nothing where all fall on one instant.
  std::optional<double> mean_per_second;
  std::optional<double> mean_over_target;
  std::int64_t worst_window = 0;  ///< most recipients that started within one second
  double worst_window_excess = 0; ///< that minus 1.005 x target: must be at most 2
  std::int64_t lost_slots = 0;    ///< slots between the first and last start that nobody used
  double longest_gap_ms = 0;      ///< between two starts
  std::int64_t idle_seconds = 0;  ///< whole seconds after the first start without a start
  std::optional<lateness> late;   ///< only below 50/s: above, lateness exceeds a slot's width
};

/// Most recipients in any window [t, t + width). `sorted` by time.
std::int64_t worst_window(const std::vector<started_call>& sorted, std::int64_t width_ns);

/// The calls up to the last one of a message that never came back: as long as such messages wait
/// there is a backlog, while one that was refused may have to wait alone for its second turn.
std::vector<started_call> while_backlog_lasts(std::vector<started_call> calls);

/// Sorts the calls, then judges them against `target` recipients per second (above 0).
pace_figures judge_pace(std::vector<started_call> calls, double target);

} // namespace paceline::bench
