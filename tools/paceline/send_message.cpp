#include <cstdio>

#include "config/text.hpp"
#include "storage/messages.hpp"
#include "storage/suppressions.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/message_text.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/send.hpp"
#include "tools/paceline/unseen_fields.hpp"
#include "tools/paceline/watch.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

constexpr std::size_t most_recipients = 50;

result<std::vector<std::string>> recipients_of(const send_options& options) {
  if (options.to.size() > most_recipients)
    return error{error_kind::invalid, "One message has at most 50 recipients; --csv takes more."};
  std::vector<std::string> all;
  for (const auto& text : options.to) {
    const auto checked = check_address(text);
    if (!checked.address)
      return error{error_kind::invalid, "--to " + printable(text) + ": " + checked.problem};
    auto address = normalized_address(*checked.address);
    for (const auto& other : all)
      if (other == address)
        return error{error_kind::invalid, "--to " + printable(text) + " is given twice."};
    all.push_back(std::move(address));
  }
  return all;
}

result<std::optional<nanoseconds>> duration_of(const std::string& text) {
  if (text.empty())
    return std::optional<nanoseconds>{};
  auto parsed = parse_duration(text);
  if (!parsed)
    return parsed.failure();
  return std::optional<nanoseconds>{*parsed};
}

/// Everything that can be said before the database is asked.
result<new_message> message_of(const send_options& options) {
  new_message message;
  auto what = read_content(options);
  if (!what)
    return what.failure();
  message.what = std::move(*what);
  auto recipients = recipients_of(options);
  if (!recipients)
    return recipients.failure();
  message.recipients = std::move(*recipients);
  message.priority = static_cast<std::int16_t>(options.priority.value_or(0));
  auto fields = fields_json(options.fields);
  if (!fields)
    return fields.failure();
  message.fields = std::move(*fields);
  const auto send_in = duration_of(options.send_in);
  if (!send_in)
    return send_in.failure();
  message.send_in = *send_in;
  const auto expires_in = duration_of(options.expires_in);
  if (!expires_in)
    return expires_in.failure();
  message.expires_in = *expires_in;
  if (message.send_in && message.expires_in && *message.expires_in <= *message.send_in)
    return error{error_kind::invalid, "It would expire before it is due: --expires-in must be "
                                      "longer than --send-in."};
  const auto tried = try_message(message.what, message.recipients, message.fields);
  if (!tried)
    return tried.failure();
  if (const auto warning = missing_warning(tried->fields); !warning.empty())
    say(warning);
  return message;
}

void print_message(const send_options& options, message_id id, const message_view* seen) {
  if (options.as_json) {
    json_text out;
    out.begin_object().id("message", id).member("route", options.route).key("report");
    if (seen)
      message_json(out, *seen);
    else
      out.null();
    print(out.end_object().line());
  } else if (seen) {
    print(message_text(*seen));
  }
}

int finish_watching(program& with, const send_options& options, const settings& values,
                    message_id id) {
  const auto number = std::to_string(id.value());
  const auto seen = watch_message(with, values, id);
  print_message(options, id, seen.end == watch_end::over ? &*seen.last : nullptr);
  if (seen.end == watch_end::interrupted) {
    say("stopped watching; the message stays queued. `paceline messages show " + number
        + "` shows it.");
    return exit_interrupted;
  }
  if (seen.end == watch_end::failed)
    return say_error(seen.why);
  if (seen.last->status != message_status::acceptance_unknown)
    return exit_fine;
  say("nobody can tell whether the provider took it; `paceline messages resolve " + number
      + "` closes it");
  return exit_failed;
}

} // namespace

int run_send_message(program& with, const send_options& options) {
  auto message = message_of(options);
  if (!message)
    return say_wrong_use(message.failure().text, "send");
  int status = exit_fine;
  auto place = open_place(with, options, status);
  if (!place)
    return status;
  message->route = place->route;
  auto ids = make_id_source(*place->on);
  if (!ids)
    return say_error(ids.failure());
  const auto stored = accept_message(*place->on, *ids, *message, operator_name());
  if (!stored)
    return say_store_error(stored.failure(), "paceline messages list");
  wake(*place->on, options.route);
  if (!options.as_json) {
    print("Message " + std::to_string(stored->value()) + " to "
          + counted(static_cast<std::int64_t>(message->recipients.size()), "recipient") + " on "
          + options.route + " is stored and goes out.\n");
    std::fflush(stdout);
  }
  if (options.wait)
    return finish_watching(with, options, place->values, *stored);
  print_message(options, *stored, nullptr);
  return exit_fine;
}

} // namespace paceline
