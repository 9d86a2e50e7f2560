#include "transport/api/message_json.hpp"

namespace paceline {
namespace {

/// `environment:region` without the environment.
std::string_view region_of(std::string_view route) {
  return route.substr(route.find(':') + 1);
}

} // namespace

std::vector<message_event> events_of(const message_view& message) {
  std::vector<message_event> events;
  events.push_back({"queued", message.created_at, {}});
  // ISO 8601 in UTC with equal digits: later is greater.
  const bool was_planned = message.throttles == 0 && message.due_at > message.created_at;
  if (was_planned)
    events.push_back({"scheduled", message.due_at, {}});
  if (!message.started_at.empty())
    events.push_back({"started", message.started_at, {}});
  if (!is_open(message.status))
    events.push_back(
        {std::string{name(message.status)}, message.changed_at, std::string{name(message.reason)}});
  return events;
}

void write_message(json_output& out, const message_view& message, bool with_events) {
  out.begin_object().member("id", message.id).member("state", name(message.status));
  out.member_or_null("reason", name(message.reason));
  out.member_or_null("diagnostic", message.diagnostic);
  out.member("stream", message.stream).member("region", region_of(message.route));
  out.name("recipients").begin_array();
  for (const auto& recipient : message.recipients)
    out.value(recipient);
  out.end_array();
  out.member("subject", message.subject);
  out.name("tags").raw(message.tags.empty() ? "{}" : message.tags);
  if (!message.addresses.empty())
    out.name("addresses").raw(message.addresses);
  out.member_or_null("provider_id", message.provider_id);
  out.member("created_at", message.created_at).member_or_null("due_at", message.due_at);
  out.member_or_null("started_at", message.started_at);
  out.member_or_null("changed_at", message.changed_at);
  out.member_or_null("expires_at", message.expires_at);
  if (with_events) {
    out.name("events").begin_array();
    for (const auto& event : events_of(message)) {
      out.begin_object().member("type", event.type).member("at", event.at);
      out.member_or_null("reason", event.reason).end_object();
    }
    out.end_array();
  }
  out.end_object();
}

} // namespace paceline
