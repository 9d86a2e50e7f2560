/// Which stream sends next: the most urgent priority first, and within it by weight.
///
/// Weighted fair queueing with eligibility: each stream has a virtual start (what it has had,
/// divided by its weight); a class of equal priority has a virtual time. Among the streams that are
/// not ahead of that time, the one whose next message would finish first is picked, which keeps
/// each within one message of its exact share. A stream that had nothing to send starts at the
/// present virtual time: idleness earns nothing. A stream's rate cap is a minimum spacing.
///
/// Pure; knows no rows, only the cost of each stream's head row. A scan of all streams per pick.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"
#include "storage/model/rate.hpp"

namespace paceline {

struct stream_info {
  stream_id id;
  project_id project;
  std::int32_t priority = 10; ///< lower is more urgent: direct mail 0, campaigns 10
  std::int32_t weight = 1;    ///< 1 to 1000
  rate cap;                   ///< recipients a second on the whole route; zero: none
};

class fair_queue {
public:
  /// `shard_count`: a stream's cap is shared evenly by so many shards (>= 1).
  explicit fair_queue(std::int32_t shard_count) : shard_count_(shard_count) {}

  /// Adds a stream, or changes its priority, weight or cap.
  void put(const stream_info& info);
  void remove(stream_id id);
  const stream_info* find(stream_id id) const;

  /// The cost of the stream's next row; 0: it has none in memory at the moment.
  void set_head(stream_id id, std::int32_t cost);
  /// The stream has nothing due anywhere; it will start afresh when it has.
  void set_idle(stream_id id);

  /// The stream whose head row should take the slot at `at`; nothing if all are capped or empty.
  std::optional<stream_id> pick(database_instant at) const;
  /// The head row of `id`, `cost` recipients, takes the slot at `at`. `slot_period`: spacing of
  /// the shard's slots, by which a cap may run late without losing rate.
  void charge(stream_id id, std::int32_t cost, database_instant at, nanoseconds slot_period);
  /// When the first stream with a head row is free of its cap (maybe past).
  std::optional<database_instant> earliest_free() const;

  /// All streams, the one to be served first in front.
  std::vector<stream_id> order() const;
  /// Whether there are streams of several priorities.
  bool is_mixed() const;

private:
  __extension__ using virtual_time = __int128;
  struct entry {
    stream_info info;
    virtual_time start = 0;
    std::int32_t head_cost = 0;
    bool idle = true;
    database_instant free_at = database_instant::min();
  };

  const entry* better(const entry* a, const entry& b, virtual_time now) const;
  virtual_time finish(const entry& e) const;

  std::int32_t shard_count_;
  std::unordered_map<stream_id, entry> streams_;
  std::map<std::int32_t, virtual_time> class_time_; ///< by priority
};

} // namespace paceline
