/// Messages as people and APIs see them: accept, look up, resolve.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
  content what;
  std::vector<std::string> recipients; ///< normalised, 1 to 50
  std::string fields = "{}";
  std::optional<nanoseconds> send_in;    ///< due after this; now if empty
  std::optional<nanoseconds> expires_in; ///< must start within this
};

/// Stores content, message and state in one transaction; when it returns, the message is committed.
result<message_id> accept_message(session&, id_source&, const new_message&);

struct message_view {
  message_id id;
  stream_id stream;
  std::string route;
  message_status status = message_status::queued;
  reason_code reason = reason_code::none;
  std::int32_t version = 0;
  std::int16_t throttles = 0;
  std::vector<std::string> recipients;
  std::string subject; ///< the template
  std::string provider_id, diagnostic;
  std::string created_at, due_at, changed_at, started_at,
      expires_at; ///< ISO 8601 UTC, empty if none
};
result<message_view> show_message(session&, message_id);

struct message_filter {
  std::optional<stream_id> campaign;
  std::optional<message_status> status;
  std::optional<std::string> recipient; ///< normalised
  message_id before;                    ///< page: ids below this; none = from the newest
  std::int32_t limit = 50;              ///< 1 to 1,000
};
result<std::vector<message_view>> list_messages(session&, const message_filter&);

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
                                         std::int32_t writer);

} // namespace paceline
