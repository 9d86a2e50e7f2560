/// Taking messages in: calls of several senders, with their contents, messages and idempotency
/// keys, by one statement. Whatever enters a direct stream enters here: API and CLI alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/contents.hpp"
#include "storage/model/ids.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// Microseconds since 1970 on the database's clock, where absolute times come from outside.
using unix_us = std::int64_t;

struct intake_message {
  message_id id;
  std::size_t content = 0;              ///< index into the call's contents
  content_id stored_content;            ///< in place of `content`: one that is stored already
  message_id resend_of;                 ///< none, or what an operator closed and sends again
  std::vector<std::string> recipients;  ///< normalised, distinct, 1 to 50
  std::string fields = "{}";            ///< a JSON object
  std::optional<std::string> tags;      ///< a JSON object
  std::optional<std::string> addresses; ///< a JSON object: to, cc, bcc, reply_to as given
  std::optional<unix_us> send_at;       ///< now if empty or past
  std::optional<unix_us> expires_at;    ///< never if empty
};

/// The answer to remember, given again to whoever repeats the request.
struct idempotency {
  std::string key; ///< 1 to 255 octets
  std::array<std::uint8_t, 32> body_hash{};
  std::int16_t status = 202;
  std::string response;
};

/// One request. All of it is stored, or nothing.
struct intake_call {
  project_id project{1};
  key_id key; ///< none: an operator
  std::string environment;
  route_id route;
  stream_id stream; ///< see direct_stream
  std::optional<idempotency> once;
  std::vector<content> contents;        ///< with fresh ids; each used by at least one message
  std::vector<intake_message> messages; ///< with fresh ids, 1 to 5,000
};

enum class intake_verdict {
  stored,
  replayed,   ///< stored earlier under the same idempotency key and body: `status` and `response`
  other_body, ///< the idempotency key belongs to another body
  in_work,    ///< somebody is storing under this idempotency key right now: try again in a second
  key_ended,  ///< the API key is revoked or has expired
};

struct intake_reply {
  intake_verdict verdict = intake_verdict::stored;
  std::int16_t status = 0; ///< of `replayed`
  std::string response;    ///< of `replayed`
};

/// The database's clock, for absolute times that are computed here.
result<unix_us> database_time(session&);

/// Stores the calls by one statement in one transaction; a second one looks up what was there
/// before. Replies in the order of the calls. No two calls may have the same idempotency key.
///
/// Errors: `data` where any value can't be stored, or an id is taken (nothing of any call is
/// stored: try each call alone, then with fresh ids); `in_doubt` and the retryable ones: the same
/// calls may be given again with `again` set, which takes rows of these ids as ours.
/// Locks: keys FOR KEY SHARE in id order, then counters in stream order; idempotency keys are
/// guarded by advisory transaction locks, never waited for.
result<std::vector<intake_reply>> take_in(session&, std::span<const intake_call* const> calls,
                                          bool again = false);

/// The same guard for whatever else must happen once, inside the caller's open transaction, first
/// of all: `stored` means that nobody has answered under this key and that our answer is noted;
/// for every other verdict (`replayed`, `other_body`, `in_work`) the caller does nothing more.
/// Errors: as any statement. Locks: an advisory transaction lock, never waited for.
result<intake_reply> answer_once(session& open_transaction, project_id,
                                 std::string_view environment, const idempotency&);

/// Forgets answers older than 7 days, at most `page` (1 to 10,000). Returns how many.
result<std::int64_t> forget_answers(session&, std::int32_t page);

} // namespace paceline
