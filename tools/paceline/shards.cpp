#include <CLI/CLI.hpp>

#include <memory>

#include "tools/paceline/commands.hpp"
#include "tools/paceline/overview_text.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

int run_list(session& on, bool as_json) {
  const auto seen = read_overview(on);
  if (!seen)
    return say_error(seen.failure());
  json_text out;
  shards_json(out, *seen);
  if (as_json)
    print(out.line());
  else
    print(seen->shards.empty() ? "There is no shard yet: `paceline migrate` makes them.\n"
                               : shards_text(*seen));
  return exit_fine;
}

} // namespace

void add_shards(CLI::App& app, program& with) {
  auto* const shards = app.add_subcommand("shards", "Who runs which shard");
  shards->require_subcommand(1);
  shards->footer("Examples:\n"
                 "  paceline shards list");
  auto* const list = shards->add_subcommand("list", "Every shard with its owner");
  const auto as_json = std::make_shared<bool>(false);
  list->add_flag("--json", *as_json, "Print JSON");
  list->footer("IN FLIGHT is as of the owner's last renewal.\n"
               "\n"
               "Examples:\n"
               "  paceline shards list\n"
               "  paceline shards list --json | jq -r '.[] | select(.owner == null).shard'");
  list->callback([&with, as_json] {
    with.chosen = [&with, as_json] {
      return with_session(with, [as_json](session& on) { return run_list(on, *as_json); });
    };
  });
}

} // namespace paceline
