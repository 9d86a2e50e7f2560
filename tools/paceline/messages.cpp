#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <memory>

#include "config/text.hpp"
#include "storage/messages.hpp"
#include "storage/suppressions.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/message_text.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "tools/paceline/resolve.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

struct list_options {
  std::string campaign, status, recipient, before;
  std::int32_t limit = 50;
  bool as_json = false;
};

struct one_options {
  std::string id;
  bool as_json = false;
};

result<message_filter> filter_of(const list_options& options) {
  message_filter filter;
  filter.limit = options.limit;
  if (!options.campaign.empty()) {
    auto which = parse_id_as<stream_id>(options.campaign, "campaign");
    if (!which)
      return which.failure();
    filter.campaign = *which;
  }
  if (!options.before.empty()) {
    auto which = parse_id_as<message_id>(options.before, "message");
    if (!which)
      return which.failure();
    filter.before = *which;
  }
  if (!options.status.empty()) {
    filter.status = parse_status(options.status);
    if (!filter.status)
      return error{error_kind::invalid, "'" + printable(options.status) + "' is no status: one of "
                                            + all_statuses() + "."};
  }
  if (!options.recipient.empty())
    filter.recipient =
        normalized_address(check_address(options.recipient).address.value_or(options.recipient));
  return filter;
}

/// A full page, or all there is: a person has the patience that a request has not.
result<message_page> list_all(session& on, message_filter filter) {
  message_page all;
  do {
    auto page = list_messages(on, filter);
    if (!page)
      return page.failure();
    filter.before = all.next = page->next;
    filter.limit -= static_cast<std::int32_t>(page->rows.size());
    std::ranges::move(page->rows, std::back_inserter(all.rows));
  } while (filter.limit > 0 && all.next != message_id{});
  return all;
}

int print_list(session& on, const message_filter& filter, bool as_json) {
  const auto messages = list_all(on, filter);
  if (!messages)
    return say_error(messages.failure());
  if (as_json) {
    json_text out;
    out.begin_array();
    for (const auto& message : messages->rows)
      message_json(out, message);
    print(out.end_array().line());
    return exit_fine;
  }
  print(messages_text(messages->rows));
  if (messages->next != message_id{})
    print("Older ones: add --before " + std::to_string(messages->next.value()) + "\n");
  return exit_fine;
}

int run_list(program& with, const list_options& options) {
  const auto filter = filter_of(options);
  if (!filter)
    return say_wrong_use(filter.failure().text, "messages list");
  return with_session(with, [&](session& on) { return print_list(on, *filter, options.as_json); });
}

int print_one(session& on, message_id which, bool as_json) {
  const auto message = show_message(on, which);
  if (!message)
    return say_error(message.failure());
  json_text out;
  message_json(out, *message);
  print(as_json ? out.line() : message_text(*message));
  return exit_fine;
}

int run_show(program& with, const one_options& options) {
  const auto which = parse_id_as<message_id>(options.id, "message");
  if (!which)
    return say_wrong_use(which.failure().text, "messages show");
  return with_session(with, [&](session& on) { return print_one(on, *which, options.as_json); });
}

struct cancel_options {
  std::vector<std::string> ids;
  bool as_json = false;
};

/// One after the other, so that one that can't be canceled keeps no other from it.
int cancel_all(session& on, const std::vector<message_id>& which, bool as_json) {
  int status = exit_fine;
  std::vector<message_view> canceled;
  for (const auto id : which) {
    auto message = cancel_message(on, id, operator_writer, operator_name());
    if (!message) {
      status = say_error(message.failure());
      if (message.failure().kind != error_kind::refused
          && message.failure().kind != error_kind::not_found)
        break;
      continue;
    }
    if (!as_json)
      print("Message " + std::to_string(id.value()) + " is canceled.\n");
    canceled.push_back(std::move(*message));
  }
  if (as_json) {
    json_text out;
    out.begin_array();
    for (const auto& message : canceled)
      message_json(out, message);
    print(out.end_array().line());
  }
  return status;
}

int run_cancel(program& with, const cancel_options& options) {
  std::vector<message_id> which;
  for (const auto& text : options.ids) {
    const auto id = parse_id_as<message_id>(text, "message");
    if (!id)
      return say_wrong_use(id.failure().text, "messages cancel");
    which.push_back(*id);
  }
  return with_session(with, [&](session& on) { return cancel_all(on, which, options.as_json); });
}

void add_cancel(CLI::App& messages, program& with) {
  const auto options = std::make_shared<cancel_options>();
  auto* const cancel = messages.add_subcommand("cancel", "Keep queued messages from being sent");
  cancel->add_option("ID", options->ids, "The messages, as `messages list` shows them")->required();
  cancel->add_flag("--json", options->as_json, "Print JSON: those that are canceled");
  cancel->footer(
      "What may have been sent can't be canceled any more; the others are, all the same.\n"
      "A message that its campaign has not got to yet goes with the campaign.\n"
      "\n"
      "Examples:\n"
      "  paceline messages cancel 373217432412160001\n"
      "  paceline messages list --status queued --json | jq -r '.[].message' \\\n"
      "      | xargs paceline messages cancel");
  cancel->callback(
      [&with, options] { with.chosen = [&with, options] { return run_cancel(with, *options); }; });
}

void add_list(CLI::App& messages, program& with) {
  const auto options = std::make_shared<list_options>();
  auto* const list = messages.add_subcommand("list", "The newest messages");
  list->add_option("--campaign", options->campaign, "Only of this campaign")->type_name("ID");
  list->add_option("--status", options->status, "Only those, such as acceptance_unknown");
  list->add_option("--recipient", options->recipient, "Only those to this address")
      ->type_name("ADDRESS");
  list->add_option("--before", options->before, "The next page: only ids below this")
      ->type_name("ID");
  list->add_option("--limit", options->limit, "At most so many")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  list->add_flag("--json", options->as_json, "Print JSON");
  list->footer("Examples:\n"
               "  paceline messages list --status acceptance_unknown\n"
               "  paceline messages list --recipient anna@example.com --json\n"
               "  paceline messages list --campaign 373217432412160000 --limit 200");
  list->callback(
      [&with, options] { with.chosen = [&with, options] { return run_list(with, *options); }; });
}

void add_show(CLI::App& messages, program& with) {
  const auto options = std::make_shared<one_options>();
  auto* const show = messages.add_subcommand("show", "All that is known of one message");
  show->add_option("ID", options->id, "The message")->required();
  show->add_flag("--json", options->as_json, "Print JSON");
  show->footer("Examples:\n"
               "  paceline messages show 373217432412160001\n"
               "  paceline messages show 373217432412160001 --json");
  show->callback(
      [&with, options] { with.chosen = [&with, options] { return run_show(with, *options); }; });
}

} // namespace

void add_messages(CLI::App& app, program& with) {
  auto* const messages =
      app.add_subcommand("messages", "List, show, cancel, and resolve what is unknown");
  messages->require_subcommand(1);
  messages->footer("Examples:\n"
                   "  paceline messages list --status acceptance_unknown\n"
                   "  paceline messages show 373217432412160001\n"
                   "  paceline messages cancel 373217432412160001\n"
                   "  paceline messages resolve 373217432412160001 --as accepted\n"
                   "  paceline messages resolve --campaign 373217432412160000 \\\n"
                   "      --without-feedback-for 24h --as accepted");
  add_list(*messages, with);
  add_show(*messages, with);
  add_cancel(*messages, with);
  add_messages_resolve(*messages, with);
}

} // namespace paceline
