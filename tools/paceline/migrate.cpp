#include <CLI/CLI.hpp>

#include <memory>

#include "storage/ownership.hpp"
#include "storage/schema.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

/// Migrates, then makes the routes of the configuration, so that messages can be sent before the
/// first node runs.
int run_migrate(program& with, bool as_json) {
  const auto values = with.configured();
  if (!values)
    return exit_wrong_use;
  auto on = with.connect_directly(*values);
  if (!on)
    return say_error(on.failure());
  const auto steps = migrate(**on, [as_json](std::string_view line) {
    if (!as_json)
      print(std::string{line} + "\n");
  });
  if (!steps)
    return say_error(steps.failure());
  json_text out;
  out.begin_object().key("migrations").begin_array();
  int applied = 0;
  for (const auto& step : *steps) {
    applied += step.applied_now ? 1 : 0;
    out.begin_object().member("number", step.number).member("name", step.name);
    out.member("applied_now", step.applied_now).end_object();
  }
  out.end_array().key("routes").begin_array();
  for (const auto& [name, route] : values->routes) {
    const auto seeded = seed_route(**on, *route_name::parse(name), route.shards);
    if (!seeded)
      return say_error(seeded.failure());
    if (seeded->shard_count != route.shards)
      say(name + " keeps its " + counted(seeded->shard_count, "shard") + "; the configuration says "
          + grouped(route.shards) + ".");
    out.begin_object().member("route", name).member("shards", seeded->shard_count).end_object();
  }
  out.end_array().end_object();
  if (as_json)
    print(out.line());
  else
    print("The schema is current: " + counted(static_cast<std::int64_t>(steps->size()), "migration")
          + ", " + grouped(applied) + " of them applied now. "
          + counted(static_cast<std::int64_t>(values->routes.size()), "route") + ".\n");
  return exit_fine;
}

} // namespace

void add_migrate(CLI::App& app, program& with) {
  auto* const migrate = app.add_subcommand(
      "migrate", "Bring the database's schema up to date and make the configured routes");
  const auto as_json = std::make_shared<bool>(false);
  migrate->add_flag("--json", *as_json, "Print JSON");
  migrate->footer(
      "Safe to run again, and from two places at once.\n"
      "\n"
      "Examples:\n"
      "  paceline migrate\n"
      "  paceline migrate --set database.direct_dsn=postgresql://owner@db:5432/paceline");
  migrate->callback(
      [&with, as_json] { with.chosen = [&with, as_json] { return run_migrate(with, *as_json); }; });
}

} // namespace paceline
