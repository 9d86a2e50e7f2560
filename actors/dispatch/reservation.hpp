/// The reservation: due rows read ahead into memory, per stream, at most a second's worth.
///
/// It is a promise to nobody: rows stay `queued` in the database and a crash loses nothing. Each
/// stream is read page by page behind a cursor `(due_at, id)`: first the shard's own part of its
/// buckets; where a wake found nothing at all in that, another shard's part; then it sleeps until
/// woken. (A shard with rows of its own leaves the others theirs: two that read the same rows make
/// one of them claim in vain.) A short page means dry; the cursor then starts over, since rows may
/// have become due behind it. Rows that are in memory in whatever stage (reserved, claimed, in
/// flight, unrecorded) are recognised and skipped.
///
/// Pure; owned by the shard's policy.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "actors/dispatch/fair_queue.hpp"
#include "storage/model/outcome.hpp"

namespace paceline {

/// A row in memory. The actor keeps what belongs to it (content, recipient) by message id.
struct reserved_row {
  attempt of;
  stream_id stream;
  std::int32_t cost = 1; ///< recipients, >= 1
  database_instant due_at{};
  bool alone = false; ///< must have a request of its own
};

/// Which of the stream's buckets to read.
enum class bucket_part { own, other };

/// The last row seen: read `(due_at, id) > (...)`. The default is the beginning.
struct read_cursor {
  database_instant due_at = database_instant::min();
  message_id id;
  friend bool operator==(const read_cursor&, const read_cursor&) = default;
};

/// "Read up to `limit` due rows of `stream` after the cursor, in order of (due_at, id)."
struct reserve_plan {
  stream_id stream;
  bucket_part part = bucket_part::own;
  read_cursor after;
  std::int32_t limit = 0;
};

class reservation {
public:
  explicit reservation(bool has_others) : has_others_(has_others) {}

  void add_stream(stream_id id);
  /// Returns the rows dropped from memory; claimed ones stay known.
  std::vector<attempt> remove_stream(stream_id id);

  /// There may be due rows from `at` on (now or later).
  void wake(stream_id id, database_instant at, database_instant now);
  /// The earliest later instant for which a wake was asked.
  std::optional<database_instant> next_wake() const;

  /// What to read now; empty: nothing, or a read is outstanding. `queue` gives order and weights;
  /// `limit` is the most rows to hold. At most 16 plans at a time, their limits summing to at most
  /// `limit`; all of them are answered by `on_rows`, or together by `on_failed`.
  std::vector<reserve_plan> plan(database_instant now, std::int32_t limit, const fair_queue& queue);
  /// The answer to one plan; `rows` in order. A page shorter than the plan's limit is the last.
  void on_rows(const reserve_plan& asked, const std::vector<reserved_row>& rows);
  void on_failed();

  /// Holds at most `limit` rows by dropping the least urgent streams' last ones (they are read
  /// again later). Returns what was dropped.
  std::vector<attempt> trim(std::int32_t limit, const fair_queue& queue);

  const reserved_row* front(stream_id id) const;
  /// Takes the front row out; it stays known until `forget`.
  reserved_row pop(stream_id id);
  /// The row is finished, or gone from here: it may be read again. Also drops it if reserved, and
  /// then returns its stream.
  std::optional<stream_id> forget(message_id id);

  std::size_t size() const { return size_; }
  bool is_known(message_id id) const { return known_.contains(id); }
  bool is_reading() const { return outstanding_ > 0; }
  bool is_dry(stream_id id) const;

private:
  struct held_row {
    reserved_row row;
    bucket_part part = bucket_part::own;
  };
  struct stream_rows {
    std::deque<held_row> rows;
    std::array<read_cursor, 2> cursor; ///< by bucket_part
    bucket_part part = bucket_part::own;
    bool dry = false;
    bool reading = false;
    bool woken_while_reading = false;
    bool fed = false; ///< own rows came since the last wake
    bool trimmed_while_reading = false;
    std::optional<database_instant> wake_at;
  };

  void end_of_part(stream_rows& stream, bucket_part part);
  void drop_last(stream_rows& stream);
  void look_at_wakes(database_instant now);
  std::vector<stream_id> wanting(const fair_queue& queue) const;
  std::int64_t held_up_to(std::int32_t priority, const fair_queue& queue) const;
  bool is_time(std::int32_t limit, const fair_queue& queue, stream_id first) const;

  bool has_others_;
  std::unordered_map<stream_id, stream_rows> streams_;
  /// Every row in memory; the stream it is reserved for, or no stream once it was popped.
  std::unordered_map<message_id, stream_id> known_;
  std::size_t size_ = 0; ///< reserved rows of all streams
  std::int32_t outstanding_ = 0;
};

/// How many rows to hold: one second of `share`, at least max(24, group), at most `cap`.
std::int32_t reserve_limit(rate share, std::int32_t max_group, std::int32_t cap);

} // namespace paceline
