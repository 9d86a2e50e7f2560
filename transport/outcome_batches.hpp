/// Gathers outcomes per shard, so that a shard gets one message every few milliseconds instead of
/// one per call. Not thread-safe.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "transport/courier.hpp"

namespace paceline {

class outcome_batches {
public:
  /// A batch leaves `delay` after its first outcome, or when it is full. `sink` must outlive this.
  outcome_batches(outcome_sink& sink, nanoseconds delay) : sink_(sink), delay_(delay) {}

  void add(delivery outcome, boot_instant now);
  /// When the oldest batch must leave; nothing if there is none.
  std::optional<boot_instant> next() const;
  void flush_due(boot_instant now);
  void flush_all();

private:
  struct batch {
    std::vector<delivery> outcomes;
    std::uint64_t number = 0; ///< tells a batch from a later one of the same shard
  };
  struct departure {
    boot_instant due;
    shard_id shard;
    std::uint64_t number = 0;
  };
  void flush(shard_id shard, batch& what);
  /// Drops departures whose batch has already left full.
  void drop_departed();

  outcome_sink& sink_;
  nanoseconds delay_;
  std::unordered_map<shard_id, batch> batches_;
  std::deque<departure> departures_; ///< by due time: the delay is the same for all
};

} // namespace paceline
