/// From the due rows to a claimed group: reserve, claim, settle. The heart of "never twice".
///
/// All functions block on the session's connection. Every one may be repeated after any error: a
/// repeated claim of the same group returns the same rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/outcome.hpp"
#include "storage/model/route_reading.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// Where the next page of a stream's due rows begins: after this row. The default is the beginning.
struct due_cursor {
  database_instant due = database_instant::min(); ///< whole microseconds, as PostgreSQL stores it
  message_id id;
};

/// Which of a stream's buckets to read: one's own (bucket % count = index), or another shard's.
enum class reserve_part { own, other };

struct reserve_source {
  stream_id stream;
  reserve_part part = reserve_part::own;
  due_cursor after;
  std::int32_t limit = 24; ///< 1 to 5,000
};

struct reserve_request {
  std::vector<reserve_source> sources; ///< at most 64
  std::int32_t index = 0;              ///< whose part is `own`
  std::int32_t other = 0;              ///< whose part is `other`
  std::int32_t count = 1;              ///< shards of the route
};

/// A due message with all that prepare needs. In memory only: a reservation is no promise.
struct due_message {
  attempt of;
  database_instant due_at{}; ///< with `of.message`, the cursor after this row
  stream_id stream;
  project_id project;
  key_id key; ///< that accepted it; none: an operator
  content_id content;
  std::int16_t cost = 1;
  std::int16_t throttles = 0;
  std::vector<std::string> recipients; ///< normalised, 1 to 50
  std::string fields;                  ///< a JSON object
  std::optional<std::string> tags;     ///< a JSON object of texts: the sender's own
  /// A JSON object: to, cc, bcc as given, where they are more than bare addresses in `to`.
  std::optional<std::string> addresses;
  bool alone = false; ///< was refused together with others: a request of its own
};

struct reserve_page {
  stream_id stream;
  reserve_part part = reserve_part::own;
  std::vector<due_message> rows; ///< in order of (due, id)
  bool exhausted = false;        ///< fewer rows than asked for
};

/// Reads due rows of several streams by keyset in one statement, one page per source, in the order
/// of the sources. Locks nothing.
result<std::vector<reserve_page>> reserve_due(session&, const reserve_request&);

struct claim_row {
  attempt of;
  stream_id stream;
  project_id project;
  std::vector<std::string> recipients;
  key_id key; ///< none: nobody can revoke it
};

struct claim_request {
  shard_id shard;
  epoch_id epoch;
  std::int32_t group_no = 0;   ///< rises within an epoch; the same number repeats the same group
  database_instant gate{};     ///< upper bound of the slots this group may use
  std::vector<claim_row> rows; ///< 1 to 100
};

struct claimed_row {
  attempt of;
  /// False where the stream stopped or the key was revoked since an earlier try of this claim:
  /// record it `not_started`.
  bool may_start = true;
  std::vector<std::string> suppressed; ///< recipients to leave out; never all of them
};

struct claim_reply {
  /// False: the shard has another epoch or no owner (or, for a stray repeat, a newer group came
  /// since); nothing was claimed, the shard must stop.
  bool still_owner = false;
  std::vector<claimed_row> rows;
  route_reading route; ///< read by the same statement
};

/// Moves queued -> attempting for those rows that may go, fenced by (shard, epoch, group number),
/// and stores the gate. Locks: the shard's row, the live keys FOR KEY SHARE and the streams FOR
/// SHARE in id order, the messages in id order, skipping those that others hold. A key that has
/// expired since does not stop what it has queued; a revoked one does.
result<claim_reply> claim_group(session&, const claim_request&);

/// Rows that a claim asked for and did not get: those that are still queued at this version become
/// suppressed, expired or canceled where that is why; all others are left alone. Counts them.
/// Returns how many changed.
result<std::int64_t> settle_skipped(session&, const std::vector<attempt>&, std::int32_t writer);

/// Permanent preflight failure: queued -> rejected or rendering_failed with its reason, where still
/// queued at this version. Returns how many changed.
struct preflight_failure {
  attempt of;
  message_status status = message_status::rendering_failed;
  reason_code reason = reason_code::rendering_error;
  std::string diagnostic; ///< cleaned by the callee
};
result<std::int64_t> reject_unsent(session&, const std::vector<preflight_failure>&,
                                   std::int32_t writer);

/// Passing preflight failure: due again after `delay`, where still queued at this version.
result<std::int64_t> postpone(session&, const std::vector<attempt>&, nanoseconds delay);

} // namespace paceline
