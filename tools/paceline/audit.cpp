#include <CLI/CLI.hpp>

#include <memory>

#include "config/text.hpp"
#include "storage/audit.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

struct audit_options {
  std::string before;
  std::int32_t limit = 50;
  bool as_json = false;
};

int run_list(session& on, const audit_options& options, std::int64_t before) {
  const auto entries = list_audit(on, before, options.limit);
  if (!entries)
    return say_error(entries.failure());
  json_text out;
  out.begin_array();
  table rows{{{"ENTRY", align::right}, {"AT"}, {"WHO"}, {"ACTION"}, {"SUBJECT"}, {"DETAIL"}}};
  for (const auto& entry : *entries) {
    out.begin_object().member("entry", std::to_string(entry.id)).member("at", entry.at);
    out.member("actor", entry.actor).member("action", entry.action);
    out.member("subject", entry.subject).member("detail", entry.detail).end_object();
    rows.add({std::to_string(entry.id), entry.at, printable(entry.actor), printable(entry.action),
              printable(entry.subject), printable(entry.detail, 200)});
  }
  if (options.as_json) {
    print(out.end_array().line());
    return exit_fine;
  }
  print(rows.is_empty() ? "Nothing has been changed.\n" : rows.text());
  if (static_cast<std::int32_t>(entries->size()) == options.limit)
    print("Older ones: add --before " + std::to_string(entries->back().id) + "\n");
  return exit_fine;
}

} // namespace

void add_audit(CLI::App& app, program& with) {
  auto* const audit = app.add_subcommand("audit", "Who changed what");
  audit->require_subcommand(1);
  audit->footer("Examples:\n"
                "  paceline audit list");
  const auto options = std::make_shared<audit_options>();
  auto* const list = audit->add_subcommand("list", "The newest changes by operators and keys");
  list->add_option("--before", options->before, "The next page: only entries below this")
      ->type_name("ENTRY");
  list->add_option("--limit", options->limit, "At most so many")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  list->add_flag("--json", options->as_json, "Print JSON; detail is JSON in a text");
  list->footer("Examples:\n"
               "  paceline audit list\n"
               "  paceline audit list --limit 1000 --json | jq '.[] | select(.action == "
               "\"route.pause\")'");
  list->callback([&with, options] {
    with.chosen = [&with, options] {
      std::int64_t before = 0;
      if (!options->before.empty()) {
        const auto parsed = parse_id(options->before, "entry");
        if (!parsed)
          return say_wrong_use(parsed.failure().text, "audit list");
        before = *parsed;
      }
      return with_session(
          with, [&options, before](session& on) { return run_list(on, *options, before); });
    };
  });
}

} // namespace paceline
