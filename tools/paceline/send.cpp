#include "tools/paceline/send.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "config/text.hpp"
#include "storage/wake_listener.hpp"
#include "storage/wall_clock.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/output.hpp"

namespace paceline {
namespace {

/// What no parser can say: which options belong together. Empty if all is well.
std::string problem_of(const send_options& options) {
  const bool is_campaign = !options.csv.empty();
  if (is_campaign == !options.to.empty())
    return "Give either --csv for a campaign or --to for one message.";
  if (auto problem = content_problem(options); !problem.empty())
    return problem;
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

void add_common_options(CLI::App& send, send_options& into) {
  send.add_option("--route", into.route, "Where it leaves: environment:region")->required();
  add_content_options(send, into, true);
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

result<mail_preview> try_message(const content& what, const std::vector<std::string>& recipients,
                                 const std::string& fields) {
  preview_message message;
  message.recipients = recipients;
  message.fields = fields;
  message.unix_seconds = wall_clock_ms() / 1000;
  return make_preview(what, message);
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
  add_common_options(*send, *options);
  add_campaign_options(*send, *options);
  add_message_options(*send, *options);
  send->footer(
      "Subject, text, HTML and headers are Mustache templates. They are tried with the first\n"
      "recipient before anything is stored. CSV rows that can't be used are reported and skipped.\n"
      "\n"
      "Examples:\n"
      "  paceline send --route test:sim --csv people.csv --from 'News <news@example.com>' \\\n"
      "      --subject-file subject.txt --text-file body.txt --wait --png curve.png\n"
      "  paceline send --route test:sim --to anna@example.com --from shop@example.com \\\n"
      "      --subject 'Your order {{number}}' --text 'It is on its way.' --field number=17\n"
      "  paceline send --route test:sim --csv people.csv --from 'News <news@example.com>' \\\n"
      "      --subject 'News for {{name}}' --default name=friend --text-file body.txt \\\n"
      "      --html-file body.html --inline logo.png --attach program.pdf --header X-Issue=7\n"
      "  paceline send --route test:sim --to anna@example.com --from shop@example.com \\\n"
      "      --subject Reminder --text 'Tomorrow at ten.' --send-in 10m --expires-in 1h");
  send->callback(
      [&with, options] { with.chosen = [&with, options] { return run_send(with, *options); }; });
}

} // namespace paceline
