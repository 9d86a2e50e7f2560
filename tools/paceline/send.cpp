#include "tools/paceline/send.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "config/text.hpp"
#include "storage/wake_listener.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/output.hpp"
#include "transport/mail/address.hpp"
#include "transport/mail/template.hpp"

namespace paceline {
namespace {

result<std::string> text_or_file(const std::string& text, const std::string& file,
                                 const char* option) {
  if (!file.empty())
    return read_text_file(file);
  if (const auto at = first_invalid_utf8(text))
    return error{error_kind::invalid,
                 std::string{option} + " is not UTF-8 at octet " + std::to_string(*at + 1) + "."};
  return text;
}

/// What no parser can say: which options belong together. Empty if all is well.
std::string problem_of(const send_options& options) {
  const bool is_campaign = !options.csv.empty();
  if (is_campaign == !options.to.empty())
    return "Give either --csv for a campaign or --to for one message.";
  if (options.subject.empty() && options.subject_file.empty())
    return "A subject is missing: --subject or --subject-file.";
  if (options.text.empty() && options.text_file.empty())
    return "A text is missing: --text or --text-file.";
  if (is_campaign && !options.fields.empty())
    return "--field belongs to one message; a campaign's fields are the columns of its CSV file.";
  if (is_campaign && (!options.send_in.empty() || !options.expires_in.empty()))
    return "--send-in and --expires-in belong to one message (--to).";
  if (!is_campaign && (!options.skipped_file.empty() || !options.name.empty()))
    return "--name and --skipped-file belong to a campaign (--csv).";
  if (!is_campaign && (options.rate_cap || options.weight))
    return "--rate-cap and --weight belong to a campaign (--csv).";
  if (!options.png.empty() && (!is_campaign || !options.wait))
    return "--png needs a campaign and --wait: there is no curve before the end.";
  if (!route_name::parse(options.route))
    return "'" + printable(options.route)
           + "' is no route: write environment:region, such as test:sim.";
  return {};
}

/// An empty text, such as a shell variable that was never set, must not pass for an option that
/// wasn't given.
std::string is_given(const std::string& text) {
  return text.empty() ? "an empty text" : std::string{};
}

/// For beside a range, which lets NaN pass: it is neither below nor above anything.
std::string is_a_number(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? "no number" : std::string{};
}

int run_send(program& with, const send_options& options) {
  if (const auto problem = problem_of(options); !problem.empty())
    return say_wrong_use(problem, "send");
  return options.csv.empty() ? run_send_message(with, options) : run_send_campaign(with, options);
}

void add_content_options(CLI::App& send, send_options& into) {
  send.add_option("--route", into.route, "Where it leaves: environment:region")->required();
  send.add_option("--from", into.from, "The sender: 'Name <local@domain>' or an address")
      ->required()
      ->type_name("MAILBOX");
  const auto pair = [&send](const char* option, std::string& text, std::string& file,
                            const std::string& what) {
    auto* const direct = send.add_option(option, text, what)->type_name("TEXT");
    send.add_option(std::string{option} + "-file", file, what + ", from a file (UTF-8)")
        ->type_name("FILE")
        ->excludes(direct);
  };
  pair("--subject", into.subject, into.subject_file, "The subject; {{field}} is replaced");
  pair("--text", into.text, into.text_file, "The text part");
  pair("--html", into.html, into.html_file, "The HTML part, if there shall be one");
  send.add_option("--priority", into.priority,
                  "Lower goes first, 0 to 100 (default: 10 for a campaign, 0 for a message)")
      ->check(CLI::Range(0, 100));
  send.add_flag("--wait", into.wait,
                "Watch until the end; then exit 0 only if everybody is in a "
                "final state");
  send.add_flag("--json", into.as_json, "Print JSON");
}

void add_campaign_options(CLI::App& send, send_options& into) {
  const char* const group = "A campaign";
  send.add_option("--csv", into.csv, "Recipients: a header with `email`, other columns are fields")
      ->type_name("FILE")
      ->group(group);
  send.add_option("--name", into.name, "What it is called (default: the CSV file's name)")
      ->group(group);
  send.add_option("--weight", into.weight, "Its share among equals, 1 to 1000 (default: 100)")
      ->check(CLI::Range(1, 1000))
      ->group(group);
  send.add_option("--rate-cap", into.rate_cap, "Never faster than so many recipients per second")
      ->check(CLI::Range(0.001, 1e6))
      ->check(is_a_number)
      ->group(group);
  send.add_option("--skipped-file", into.skipped_file, "Write all skipped rows there")
      ->type_name("FILE")
      ->group(group);
  send.add_option("--png", into.png, "With --wait: draw the dispatch curve there (needs gnuplot)")
      ->type_name("FILE")
      ->group(group);
}

void add_message_options(CLI::App& send, send_options& into) {
  const char* const group = "One message";
  send.add_option("--to", into.to, "A recipient; may be repeated, up to 50")
      ->type_name("ADDRESS")
      ->allow_extra_args(false)
      ->group(group);
  send.add_option("--field", into.fields, "A value for {{name}}; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  send.add_option("--send-in", into.send_in, "Not before this time from now, such as 10m")
      ->type_name("DURATION")
      ->check(is_given)
      ->group(group);
  send.add_option("--expires-in", into.expires_in, "Not after this time from now, such as 1h")
      ->type_name("DURATION")
      ->check(is_given)
      ->group(group);
}

} // namespace

result<content> read_content(const send_options& options) {
  content what;
  if (const auto problem = sender_problem(options.from))
    return error{error_kind::invalid, "--from: " + *problem};
  what.sender = options.from;
  auto subject = text_or_file(options.subject, options.subject_file, "--subject");
  if (!subject)
    return subject.failure();
  what.subject = without_line_end(std::move(*subject));
  auto text = text_or_file(options.text, options.text_file, "--text");
  if (!text)
    return text.failure();
  what.text_body = std::move(*text);
  auto html = text_or_file(options.html, options.html_file, "--html");
  if (!html)
    return html.failure();
  what.html_body = std::move(*html);
  if (what.subject.empty() || what.text_body.empty())
    return error{error_kind::invalid, "Subject and text must not be empty."};
  return what;
}

result<done> try_rendering(const content& what, const std::string& fields) {
  const auto compiled = mail_template::compile(what);
  if (!compiled)
    return compiled.failure();
  const auto rendered = compiled->render(fields);
  if (!rendered)
    return rendered.failure();
  return done{};
}

std::optional<send_place> open_place(program& with, const send_options& options, int& status) {
  auto values = with.configured();
  if (!values) {
    status = exit_wrong_use;
    return std::nullopt;
  }
  send_place place;
  place.values = std::move(*values);
  auto on = with.connect(place.values);
  if (!on) {
    status = say_error(on.failure());
    return std::nullopt;
  }
  place.on = *on;
  auto route = find_route(**on, place.values, *route_name::parse(options.route));
  if (!route) {
    status = say_error(route.failure());
    return std::nullopt;
  }
  place.route = *route;
  return place;
}

void wake(session& on, const std::string& route) {
  if (const auto woken = send_wake(on, route); !woken)
    say("no wake-up could be sent; nodes will find the work at their next poll");
}

int say_store_error(const error& failure, const std::string& where_to_look) {
  const int status = say_error(failure);
  if (failure.kind == error_kind::in_doubt)
    say("It may have been stored: look with `" + where_to_look + "` before you send it again.");
  else
    say("Nothing was stored.");
  return status;
}

void add_send(CLI::App& app, program& with) {
  auto* const send = app.add_subcommand("send", "Send a campaign from a CSV file, or one message");
  const auto options = std::make_shared<send_options>();
  add_content_options(*send, *options);
  add_campaign_options(*send, *options);
  add_message_options(*send, *options);
  send->footer(
      "Subject, text and HTML are Mustache templates. They are tried with the first recipient\n"
      "before anything is stored. CSV rows that can't be used are reported and skipped.\n"
      "\n"
      "Examples:\n"
      "  paceline send --route test:sim --csv people.csv --from 'News <news@example.com>' \\\n"
      "      --subject-file subject.txt --text-file body.txt --wait --png curve.png\n"
      "  paceline send --route test:sim --to anna@example.com --from shop@example.com \\\n"
      "      --subject 'Your order {{number}}' --text 'It is on its way.' --field number=17\n"
      "  paceline send --route test:sim --to anna@example.com --from shop@example.com \\\n"
      "      --subject Reminder --text 'Tomorrow at ten.' --send-in 10m --expires-in 1h");
  send->callback(
      [&with, options] { with.chosen = [&with, options] { return run_send(with, *options); }; });
}

} // namespace paceline
