/// Outcomes into the state table, and what interrupted attempts become. Never fenced by the epoch:
/// whoever made the call knows the truth. The version decides: an outcome of another version
/// changes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/outcome.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct backoff_settings {
  nanoseconds first = std::chrono::seconds{2};
  nanoseconds longest = std::chrono::seconds{32};
};

/// A stream that the statement touched.
struct touched_stream {
  stream_id stream;
  std::int64_t changed = 0;
  /// Open messages left as this statement's snapshot saw it. A hint only: two last records see each
  /// other as open, so "few" is reason enough for `finish_campaign`.
  std::int64_t open_left = 0;
};

struct record_reply {
  std::int64_t changed = 0; ///< rows that moved; a repeat gives 0
  std::vector<touched_stream> streams;
};

/// Stores up to 1,000 outcomes by one statement: state, version, due time (throttled: exponential
/// backoff by how often the row has waited already, or the provider's Retry-After if longer),
/// provider id, counters, dispatch curve.
///   accepted    attempting | unknown -> accepted
///   rejected    attempting | unknown -> rejected
///   unknown     attempting           -> acceptance_unknown
///   throttled   attempting | unknown -> queued, version + 1, due later
///   not_started attempting | unknown -> queued, version + 1, due now; where the provider was
///                                       unreachable, unavailable or refused the signature, later,
///                                       as if throttled
/// What goes back after BATCH_REFUSED keeps that reason until it has an outcome of its own.
/// In a finished campaign the last two leave an unknown message unknown: it never reopens.
/// Text is cleaned here (NUL, invalid UTF-8, length). Locks messages in id order, then counters.
/// Error `data`: the caller splits the batch down to rows, then drops the text.
result<record_reply> record_outcomes(session&, const std::vector<outcome>&, const backoff_settings&,
                                     std::int32_t writer);

/// Turns what lost epochs left attempting for longer than `older_than` into acceptance_unknown with
/// INTERRUPTED_PROVIDER_ATTEMPT: only rows whose epoch is noted in `lost_epochs`, whose epoch is no
/// live owner's, and that are still attempting in that epoch when the row lock is held. An epoch is
/// forgotten once nothing of it is left. Returns the streams touched. At most `limit` rows a call.
result<record_reply> sweep_interrupted(session&, nanoseconds older_than, std::int32_t limit,
                                       std::int32_t writer);

} // namespace paceline
