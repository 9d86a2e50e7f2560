#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>

#include "config/text.hpp"
#include "storage/model/ids.hpp"
#include "storage/suppressions.hpp"
#include "storage/wall_clock.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/content_options.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "tools/paceline/unseen_fields.hpp"
#include "transport/api/message_request.hpp"
#include "transport/api/preview_request.hpp"
#include "transport/mail/address.hpp"
#include "transport/mail/audience_csv.hpp"

namespace paceline {
namespace {

struct preview_options : content_options {
  std::string route, file, csv, fields;
  std::vector<std::string> pairs, to;
  bool raw = false, as_json = false;
};

/// What is shown: one message, and what is odd about its fields.
struct shown_message {
  content what;
  preview_message message;
  std::string warning; ///< about all recipients of a CSV file
};

constexpr std::size_t largest_body = 64u << 20;

std::string problem_of(const preview_options& options) {
  if (options.file.empty() && options.from.empty())
    return "A sender is missing: --from, or --file with a content.";
  if (!options.file.empty() && !options.from.empty())
    return "--file has the whole content: leave out --from and what goes with it.";
  if (!options.csv.empty() && (!options.fields.empty() || !options.pairs.empty()))
    return "--csv has the fields: leave out --fields and --field.";
  if (!options.fields.empty() && !options.pairs.empty())
    return "Give --fields or --field, not both.";
  if (!options.route.empty() && !route_name::parse(options.route))
    return "'" + printable(options.route)
           + "' is no route: write environment:region, such as test:sim.";
  return options.file.empty() ? content_problem(options) : std::string{};
}

/// A body of `POST /v1/preview`.
result<shown_message> read_body(const std::string& path) {
  const auto body = read_file(path, largest_body);
  if (!body)
    return body.failure();
  const auto document = json_document::read(*body, message_request::opaque_key);
  if (const auto* wrong = std::get_if<field_problem>(&document))
    return error{error_kind::invalid,
                 printable(path) + " is not one JSON object: " + wrong->detail + "."};
  problem_list problems;
  auto read = read_preview(std::get<json_document>(document).root(), problems);
  if (problems.is_empty())
    return shown_message{std::move(read.content.what), std::move(read.message), {}};
  std::string text = printable(path) + " has problems:";
  for (const auto& one : problems.entries())
    text += "\n  " + printable(one.pointer) + ": " + one.detail;
  return error{error_kind::invalid, text};
}

result<done> take_recipients(const preview_options& options, preview_message& into) {
  if (options.to.empty())
    return done{};
  into.recipients.clear();
  into.addresses.reset();
  for (const auto& text : options.to) {
    const auto checked = check_address(text);
    if (!checked.address)
      return error{error_kind::invalid, "--to " + printable(text) + ": " + checked.problem + "."};
    into.recipients.push_back(normalized_address(*checked.address));
  }
  if (into.recipients.size() > 50)
    return error{error_kind::invalid, "One message has at most 50 recipients."};
  return done{};
}

result<done> take_fields(const preview_options& options, preview_message& into) {
  if (!options.fields.empty())
    into.fields = options.fields;
  if (options.pairs.empty())
    return done{};
  auto fields = fields_json(options.pairs);
  if (!fields)
    return fields.failure();
  into.fields = std::move(*fields);
  return done{};
}

/// The first usable row is shown; all are looked at for fields that nobody has.
result<done> take_audience(const preview_options& options, shown_message& into) {
  std::ifstream file;
  if (options.csv != "-") {
    file.open(options.csv, std::ios::binary);
    if (!file)
      return error{error_kind::invalid,
                   "Can't read " + printable(options.csv) + ": " + std::strerror(errno) + "."};
  }
  audience_csv rows{options.csv == "-" ? std::cin : file, [](const skipped_row&) {}};
  unseen_fields unseen{into.what};
  bool is_first = true;
  while (true) {
    const auto member = rows.next();
    if (!member)
      return member.failure();
    if (!*member)
      break;
    if (std::exchange(is_first, false)) {
      into.message.recipients = {(*member)->recipient};
      into.message.fields = (*member)->fields;
    }
    unseen.note((*member)->fields);
  }
  if (is_first)
    return error{error_kind::invalid, "The CSV file has no usable row."};
  into.warning = unseen.warning();
  return done{};
}

result<shown_message> read_message(const preview_options& options) {
  shown_message made;
  if (!options.file.empty()) {
    auto read = read_body(options.file);
    if (!read)
      return read;
    made = std::move(*read);
  } else {
    auto what = read_content(options);
    if (!what)
      return what.failure();
    made.what = std::move(*what);
  }
  if (!options.csv.empty())
    if (const auto taken = take_audience(options, made); !taken)
      return taken.failure();
  if (const auto taken = take_fields(options, made.message); !taken)
    return taken.failure();
  if (const auto taken = take_recipients(options, made.message); !taken)
    return taken.failure();
  made.message.unix_seconds = wall_clock_ms() / 1000;
  return made;
}

std::string preview_json(const mail_preview& made) {
  json_text out;
  out.begin_object().member("subject", made.subject);
  out.member("text", made.text_body).member("html", made.html_body);
  out.key("headers").begin_object();
  for (const auto& [name, value] : made.headers)
    out.member(name, value);
  out.end_object().member("size", made.raw.size());
  const auto list = [&out](const char* name, const std::vector<std::string>& names) {
    out.key(name).begin_array();
    for (const auto& one : names)
      out.value(one);
    out.end_array();
  };
  list("fields", made.fields.used);
  list("missing", made.fields.missing);
  return out.end_object().line();
}

std::string with_line_end(std::string text) {
  if (!text.ends_with('\n'))
    text += '\n';
  return text;
}

std::string preview_text(const shown_message& of, const mail_preview& made) {
  std::string out = "From:     " + printable(of.what.sender, 400) + "\n";
  for (const auto& [name, value] : made.headers)
    out += printable(name) + ": " + printable(value, 1000) + "\n";
  out += "Subject:  " + printable(made.subject, 1000) + "\n";
  for (const auto& one : of.what.attachments)
    out += (one.content_id.empty() ? "Attached: " : "Inline:   ") + printable(one.name) + " ("
           + one.media_type + ", " + counted(static_cast<std::int64_t>(one.data.size()), "octet")
           + ")\n";
  out += "Size:     " + grouped(static_cast<std::int64_t>(made.raw.size())) + " octets\n";
  if (!made.text_body.empty())
    out += "\n--- text ---\n" + with_line_end(made.text_body);
  if (!made.html_body.empty())
    out += "\n--- HTML ---\n" + with_line_end(made.html_body);
  return out;
}

int run_preview(const preview_options& options) {
  if (const auto problem = problem_of(options); !problem.empty())
    return say_wrong_use(problem, "preview");
  const auto wanted = read_message(options);
  if (!wanted)
    return say_error(wanted.failure());
  const auto made = make_preview(wanted->what, wanted->message);
  if (!made)
    return say_error(made.failure());
  print(options.as_json ? preview_json(*made)
        : options.raw   ? made->raw
                        : preview_text(*wanted, *made));
  const auto& warning = wanted->warning.empty() ? missing_warning(made->fields) : wanted->warning;
  if (!warning.empty())
    say(warning);
  return exit_fine;
}

} // namespace

void add_preview(CLI::App& app, program& with) {
  auto* const preview =
      app.add_subcommand("preview", "Show what a message would look like; nothing is sent");
  const auto options = std::make_shared<preview_options>();
  add_content_options(*preview, *options, false);
  preview->add_option("--file", options->file, "The content as JSON, as POST /v1/preview takes it")
      ->type_name("FILE");
  preview->add_option("--fields", options->fields, "The message's fields as a JSON object")
      ->type_name("JSON");
  preview->add_option("--field", options->pairs, "A value for {{name}}; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  preview->add_option("--csv", options->csv, "The first recipient of this file, with his fields")
      ->type_name("FILE");
  preview->add_option("--to", options->to, "A recipient; may be repeated")
      ->type_name("ADDRESS")
      ->allow_extra_args(false);
  preview->add_option("--route", options->route, "As for `send`; a preview looks the same on all");
  auto* const raw =
      preview->add_flag("--raw", options->raw, "Print the whole message as it goes out");
  preview->add_flag("--json", options->as_json, "Print JSON")->excludes(raw);
  preview->footer(
      "Needs no database. Links to unsubscribe with are added when a campaign is sent.\n"
      "\n"
      "Examples:\n"
      "  paceline preview --from shop@example.com --subject 'Order {{number}}' \\\n"
      "      --text 'It is on its way, {{name}}.' --fields '{\"number\": 17, \"name\": \"Anna\"}'\n"
      "  paceline preview --csv people.csv --from 'News <news@example.com>' --subject News \\\n"
      "      --text-file body.txt --html-file body.html --inline logo.png\n"
      "  paceline preview --file content.json --raw");
  preview->callback(
      [&with, options] { with.chosen = [options] { return run_preview(*options); }; });
}

} // namespace paceline
