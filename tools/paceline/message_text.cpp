#include "tools/paceline/message_text.hpp"

#include "config/text.hpp"
#include "tools/paceline/output.hpp"

namespace paceline {
namespace {

std::string recipients_cell(const message_view& message) {
  if (message.recipients.empty())
    return {};
  std::string text = printable(message.recipients.front());
  if (message.recipients.size() > 1)
    text += " +" + std::to_string(message.recipients.size() - 1);
  return text;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts)
    all += (all.empty() ? "" : ", ") + printable(text, 300);
  return all;
}

} // namespace

std::string messages_text(const std::vector<message_view>& messages) {
  if (messages.empty())
    return "No message is like that.\n";
  table rows{{{"MESSAGE"},
              {"ROUTE"},
              {"STATUS"},
              {"REASON"},
              {"VERSION", align::right},
              {"CHANGED"},
              {"RECIPIENT"}}};
  for (const auto& message : messages)
    rows.add({std::to_string(message.id.value()), message.route, std::string{name(message.status)},
              std::string{name(message.reason)}, std::to_string(message.version),
              message.changed_at, recipients_cell(message)});
  return rows.text();
}

std::string message_text(const message_view& message) {
  const std::pair<const char*, std::string> lines[] = {
      {"message", std::to_string(message.id.value())},
      {"stream", std::to_string(message.stream.value())},
      {"route", message.route},
      {"status", std::string{name(message.status)}},
      {"reason", std::string{name(message.reason)}},
      {"recipients", joined(message.recipients)},
      {"subject", printable(message.subject, 1000)},
      {"version", std::to_string(message.version)},
      {"throttled", counted(message.throttles, "time")},
      {"provider id", printable(message.provider_id)},
      {"diagnostic", printable(message.diagnostic, 1000)},
      {"created", message.created_at},
      {"due", message.due_at},
      {"started", message.started_at},
      {"changed", message.changed_at},
      {"expires", message.expires_at},
  };
  std::string out;
  for (const auto& [title, value] : lines)
    if (!value.empty()) {
      std::string line = title;
      line.resize(13, ' ');
      out += line + value + "\n";
    }
  return out;
}

void message_json(json_text& out, const message_view& message) {
  out.begin_object().id("message", message.id).id("stream", message.stream);
  out.member("route", message.route).member("status", name(message.status));
  out.text_or_null("reason", name(message.reason));
  out.key("recipients").begin_array();
  for (const auto& recipient : message.recipients)
    out.value(recipient);
  out.end_array().member("subject", message.subject).member("version", message.version);
  out.member("throttles", message.throttles);
  out.text_or_null("provider_id", message.provider_id);
  out.text_or_null("diagnostic", message.diagnostic);
  out.text_or_null("created_at", message.created_at).text_or_null("due_at", message.due_at);
  out.text_or_null("started_at", message.started_at);
  out.text_or_null("changed_at", message.changed_at);
  out.text_or_null("expires_at", message.expires_at).end_object();
}

std::string all_statuses() {
  std::string all;
  for (std::int16_t number = 0; number <= static_cast<std::int16_t>(message_status::complained);
       ++number)
    all.append(all.empty() ? "" : ", ").append(name(static_cast<message_status>(number)));
  return all;
}

} // namespace paceline
