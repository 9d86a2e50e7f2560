#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "config/text.hpp"
#include "storage/operations.hpp"
#include "storage/wake_listener.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/overview_text.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

struct route_options {
  std::string route, reason = "by the operator";
  std::optional<double> rate;
  bool clear = false, as_json = false;
};
using shared_route_options = std::shared_ptr<route_options>;

std::string is_route(const std::string& text) {
  return route_name::parse(text) ? std::string{}
                                 : "'" + printable(text)
                                       + "' is no route: write environment:region, such as "
                                         "test:sim";
}

/// For beside a range, which lets NaN pass.
std::string is_a_number(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? "no number" : std::string{};
}

int run_list(session& on, bool as_json) {
  const auto seen = read_overview(on);
  if (!seen)
    return say_error(seen.failure());
  json_text out;
  routes_json(out, *seen);
  if (as_json)
    print(out.line());
  else if (seen->routes.empty())
    print("There is no route yet: `paceline migrate` makes those of the configuration.\n");
  else
    print(routes_text(*seen, describe_terminal(1)));
  return exit_fine;
}

/// Shows what the route is after the change.
int tell(session& on, const route_options& options, const std::string& told) {
  const auto route = find_known_route(on, *route_name::parse(options.route));
  if (!route)
    return say_error(route.failure());
  if (options.as_json) {
    json_text out;
    out.begin_object().member("route", options.route).member("state", route->state);
    out.text_or_null("state_reason", route->state_reason).key("operator_rate_per_second");
    route->override_rate ? out.value(route->override_rate->per_second()) : out.null();
    print(out.end_object().line());
  } else {
    print("Route " + options.route + " " + told + "\n");
  }
  return exit_fine;
}

void wake_nodes(session& on, const std::string& route) {
  if (const auto woken = send_wake(on, route); !woken)
    say("no wake-up could be sent; nodes will hear of it with their next renewal");
}

int run_pause(session& on, const route_options& options) {
  const auto route = find_known_route(on, *route_name::parse(options.route));
  if (!route)
    return say_error(route.failure());
  if (const auto paused = pause_route(on, route->id, options.reason, operator_name()); !paused)
    return say_error(paused.failure());
  wake_nodes(on, options.route);
  wait_for_claims();
  return tell(on, options, "is paused: nothing of it starts.");
}

int run_resume(session& on, const route_options& options) {
  const auto route = find_known_route(on, *route_name::parse(options.route));
  if (!route)
    return say_error(route.failure());
  const auto before = resume_route(on, route->id, operator_name());
  if (!before)
    return say_error(before.failure());
  wake_nodes(on, options.route);
  return tell(on, options, *before == "running" ? "was running already." : "goes on.");
}

int run_set_rate(session& on, const route_options& options) {
  const auto route = find_known_route(on, *route_name::parse(options.route));
  if (!route)
    return say_error(route.failure());
  std::optional<rate> target;
  if (options.rate)
    target = rate::per_second(*options.rate);
  if (const auto set = override_rate(on, route->id, target, operator_name()); !set)
    return say_error(set.failure());
  wake_nodes(on, options.route);
  return tell(on, options,
              target ? "sends at " + rate_text(target->per_second())
                           + " from now on, within about two seconds."
                     : "returns to the rate of the configuration, within about two seconds.");
}

CLI::App* add_one(CLI::App& routes, const char* name, const char* description,
                  const shared_route_options& options) {
  auto* const command = routes.add_subcommand(name, description);
  command->add_option("ROUTE", options->route, "environment:region, as `routes list` shows it")
      ->required()
      ->check(is_route);
  command->add_flag("--json", options->as_json, "Print JSON");
  return command;
}

void run_by(CLI::App& command, program& with, const shared_route_options& options,
            int (*work)(session&, const route_options&)) {
  command.callback([&with, options, work] {
    with.chosen = [&with, options, work] {
      return with_session(with, [&options, work](session& on) { return work(on, *options); });
    };
  });
}

void add_list(CLI::App& routes, program& with) {
  auto* const list = routes.add_subcommand("list", "Every route with its state, target and quota");
  const auto options = std::make_shared<route_options>();
  list->add_flag("--json", options->as_json, "Print JSON");
  list->footer("Examples:\n"
               "  paceline routes list\n"
               "  paceline routes list --json | jq -r '.[] | select(.state != \"running\").route'");
  run_by(*list, with, options,
         [](session& on, const route_options& how) { return run_list(on, how.as_json); });
}

void add_pause(CLI::App& routes, program& with) {
  const auto options = std::make_shared<route_options>();
  auto* const pause = add_one(routes, "pause", "Start nothing more on a route for now", options);
  pause->add_option("--reason", options->reason, "Shown by `status`")
      ->capture_default_str()
      ->type_name("TEXT");
  pause->footer("Messages stay queued. Answers when nothing of the route can start any more: after "
                "about\na second. Calls already on the wire are finished.\n"
                "\n"
                "Examples:\n"
                "  paceline routes pause test:sim\n"
                "  paceline routes pause test:sim --reason 'too many complaints'");
  run_by(*pause, with, options, run_pause);
}

void add_resume(CLI::App& routes, program& with) {
  const auto options = std::make_shared<route_options>();
  auto* const resume =
      add_one(routes, "resume", "Let a paused route, or one the provider stopped, go on", options);
  resume->footer("Where the provider had paused the account: settle it there first, or the route "
                 "stops again.\n"
                 "\n"
                 "Examples:\n"
                 "  paceline routes resume test:sim");
  run_by(*resume, with, options, run_resume);
}

void add_set_rate(CLI::App& routes, program& with) {
  const auto options = std::make_shared<route_options>();
  auto* const set_rate = add_one(routes, "set-rate", "Send at another rate, on all nodes", options);
  auto* const rate =
      set_rate->add_option("RATE", options->rate, "Recipients per second, 0.02 to 1000000")
          ->check(CLI::Range(0.02, 1e6))
          ->check(is_a_number);
  auto* const clear =
      set_rate->add_flag("--clear", options->clear, "Return to the rate of the configuration");
  clear->excludes(rate);
  set_rate->footer("Comes before rate_factor and target_rate of the configuration, until it is "
                   "cleared. While the\nprovider refuses for the rate, its own quota still "
                   "bounds it.\n"
                   "\n"
                   "Examples:\n"
                   "  paceline routes set-rate test:sim 20\n"
                   "  paceline routes set-rate test:sim --clear");
  set_rate->callback([&with, options] {
    with.chosen = [&with, options] {
      if (options->clear == options->rate.has_value())
        return say_wrong_use("Give either a rate or --clear.", "routes set-rate");
      return with_session(with, [&options](session& on) { return run_set_rate(on, *options); });
    };
  });
}

} // namespace

void add_routes(CLI::App& app, program& with) {
  auto* const routes = app.add_subcommand("routes", "List, pause, resume, and set the rate");
  routes->require_subcommand(1);
  routes->footer("Changes take effect within a second or two and need no restart.\n"
                 "\n"
                 "Examples:\n"
                 "  paceline routes list\n"
                 "  paceline routes pause test:sim\n"
                 "  paceline routes set-rate test:sim 20");
  add_list(*routes, with);
  add_pause(*routes, with);
  add_resume(*routes, with);
  add_set_rate(*routes, with);
}

} // namespace paceline
