/// Messages as people and APIs see them: accept, look up, cancel, resolve.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/contents.hpp"
#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"
#include "storage/model/state.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct new_message {
  route_id route;
  project_id project{1};
  key_id key;                ///< none: an operator
  std::int16_t priority = 0; ///< 0 to 100, lower goes first
  content what;
  std::vector<std::string> recipients; ///< normalised, 1 to 50
  std::string fields = "{}";
  std::optional<nanoseconds> send_in;    ///< due after this; now if empty
  std::optional<nanoseconds> expires_in; ///< must start within this
};

/// Stores content, message and state in one transaction (see take_in), with an audit row where
/// `actor` is not empty; when it returns, the message is committed. Error `refused` where the key
/// has ended.
result<message_id> accept_message(session&, id_source&, const new_message&,
                                  std::string_view actor = {});

struct message_view {
  message_id id;
  stream_id stream;
  project_id project;
  key_id key; ///< that accepted it; none: an operator
  std::string route;
  message_status status = message_status::queued;
  reason_code reason = reason_code::none;
  std::int32_t version = 0;
  std::int16_t throttles = 0;
  std::vector<std::string> recipients;
  std::string subject;         ///< the template
  std::string tags, addresses; ///< JSON objects as given, empty if none
  std::string provider_id, diagnostic;
  std::string created_at, due_at, changed_at, started_at,
      expires_at; ///< ISO 8601 UTC, empty if none
};
result<message_view> show_message(session&, message_id);

struct message_filter {
  std::optional<project_id> project;
  std::optional<std::string> environment;
  std::optional<stream_id> campaign;
  std::optional<message_status> status;
  std::optional<std::string> recipient; ///< normalised
  message_id before;                    ///< page: ids below this; none = from the newest
  std::int32_t limit = 50;              ///< 1 to 1,000
};
/// A page of messages. It may be short, or empty, while `next` says where to go on.
struct message_page {
  std::vector<message_view> rows;
  message_id next; ///< `before` of the following page; none at the very end
};
/// Newest first. One call examines at most 20,000 messages, however few of them fit the filter, so
/// that a rare address costs many short calls and never one long scan.
result<message_page> list_messages(session&, const message_filter&);

/// Keeps a queued message from being sent. Locked against the claim: once it returns, no claim
/// takes the message. Canceled already is fine. Writes an audit row. Errors: `not_found`; `refused`
/// names the state it is in (attempting: its call may have started; a message that its campaign
/// has not expanded yet can only be canceled with the campaign).
/// Locks: the message, then counters.
result<message_view> cancel_message(session&, message_id, std::int32_t writer,
                                    std::string_view actor);

enum class resolution {
  accepted,   ///< the operator knows that the provider has it
  rejected,   ///< the operator knows that it will not be delivered
  send_again, ///< closes the old row as rejected and makes a new direct message with the same
              ///< content
};
struct resolved_message {
  message_id old_message;
  std::optional<message_id> resent_as;
};
/// Only acceptance_unknown can be resolved: `refused` otherwise. `not_found` for an unknown id.
result<resolved_message> resolve_message(session&, id_source&, message_id, resolution,
                                         std::int32_t writer, std::string_view actor);

} // namespace paceline
