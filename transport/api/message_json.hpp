/// A message as the API shows it, and what has happened to it so far. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/messages.hpp"
#include "transport/api/json_output.hpp"

namespace paceline {

/// One thing that happened, or will (`scheduled`).
struct message_event {
  std::string type; ///< queued, scheduled, started, or the name of the state it ended in
  std::string at;   ///< ISO 8601 UTC
  std::string reason;
};

/// What the message's row says, in order of time. `canceled` ... are there once it is in that
/// state; an attempt that was not final (a throttle) leaves no event.
std::vector<message_event> events_of(const message_view& message);

/// The object; with events where asked for.
void write_message(json_output& out, const message_view& message, bool with_events);

} // namespace paceline
