/// What a shard did in one run, for the DISPATCH_RUN line.
#pragma once

#include <cstdint>
#include <string>

#include "config/logging.hpp"
#include "storage/model/instants.hpp"
#include "storage/model/outcome.hpp"
#include "storage/model/rate.hpp"

namespace paceline {

struct run_report {
  boot_instant began{};
  std::int64_t claimed = 0;  ///< rows that this shard took over
  std::int64_t sent = 0;     ///< outcomes accepted
  std::int64_t deferred = 0; ///< throttled or not started: they go again later
  std::int64_t skipped = 0;  ///< asked for but not claimed, or failed in prepare
  std::int64_t failed = 0;   ///< rejected or unknown
  std::int64_t batches = 0;  ///< claims
  std::uint64_t statements_before = 0;
  bool braked = false; ///< a brake was in force at some time of the run
  // Summed over the run: waits for the database, and the CPU of prepare.
  nanoseconds reserve{0}, prepare{0}, claim{0};
  // Shown as means per message: from the claim's answer to the slot, from the slot to the answer.
  nanoseconds pace{0}, send{0};
  std::int64_t paced = 0, answered = 0;

  void count(const outcome& what);
};

/// Writes the line. `quota` is the route's, `share` this shard's part of the target in force, both
/// at the end of the run.
void log_run(logger& log, const std::string& shard, const run_report& run, boot_instant now,
             std::uint64_t statements, rate quota, rate share);

} // namespace paceline
