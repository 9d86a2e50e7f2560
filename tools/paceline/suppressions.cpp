#include <CLI/CLI.hpp>

#include <memory>
#include <sstream>

#include "config/text.hpp"
#include "storage/suppressions.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

constexpr std::size_t page = 1000; ///< addresses a statement

struct suppression_options {
  std::vector<std::string> addresses;
  std::string file, reason = "operator", environment, project = "default", after;
  std::int32_t limit = 1000;
  bool as_json = false;
};
using shared_suppression_options = std::shared_ptr<suppression_options>;

using change_function = result<std::int64_t> (*)(session&, const suppression_options&,
                                                 const std::vector<std::string>&);

/// Arguments and lines of the file, checked and normalised; or all that is wrong with them.
result<std::vector<std::string>> addresses_of(const suppression_options& options) {
  auto given = options.addresses;
  if (!options.file.empty()) {
    auto text = read_text_file(options.file);
    if (!text)
      return text.failure();
    std::istringstream lines{*text};
    for (std::string line; std::getline(lines, line);)
      if (line = without_line_end(line); line.find_first_not_of(" \t") != std::string::npos)
        given.push_back(line);
  }
  if (given.empty())
    return error{error_kind::invalid, "Name at least one address, or a --file with one a line."};
  std::vector<std::string> good;
  std::string wrong;
  for (const auto& text : given) {
    if (const auto checked = check_address(text); checked.address)
      good.push_back(normalized_address(*checked.address));
    else
      wrong += "\n  " + printable(text) + ": " + checked.problem;
  }
  if (!wrong.empty())
    return error{error_kind::invalid, "These are no addresses, so nothing was changed:" + wrong};
  return good;
}

result<std::int64_t> add_page(session& on, const suppression_options& options,
                              const std::vector<std::string>& addresses) {
  return add_suppressions(on, project_id{1}, options.environment, addresses, options.reason,
                          operator_name());
}

result<std::int64_t> remove_page(session& on, const suppression_options& options,
                                 const std::vector<std::string>& addresses) {
  return remove_suppressions(on, project_id{1}, options.environment, addresses, operator_name());
}

/// Page by page; how many did change.
result<std::int64_t> change_all(session& on, const suppression_options& options,
                                const std::vector<std::string>& addresses, change_function change) {
  std::int64_t changed = 0;
  for (std::size_t from = 0; from < addresses.size(); from += page) {
    const auto to = std::min(addresses.size(), from + page);
    const std::vector<std::string> some(addresses.begin() + static_cast<std::ptrdiff_t>(from),
                                        addresses.begin() + static_cast<std::ptrdiff_t>(to));
    const auto here = change(on, options, some);
    if (!here)
      return here.failure();
    changed += *here;
  }
  return changed;
}

int change_and_tell(session& on, const settings& values, suppression_options& options,
                    const std::vector<std::string>& addresses, const std::string& command,
                    change_function change) {
  const auto environment = find_environment(values, options.environment);
  if (!environment)
    return say_wrong_use(environment.failure().text, "suppressions " + command);
  options.environment = *environment;
  const auto changed = change_all(on, options, addresses, change);
  if (!changed)
    return say_error(changed.failure());
  const auto given = static_cast<std::int64_t>(addresses.size());
  if (options.as_json) {
    json_text out;
    out.begin_object().member("environment", options.environment).member("given", given);
    print(out.member("changed", *changed).end_object().line());
  } else {
    print(counted(*changed, "address", "addresses") + (command == "add" ? " added" : " removed")
          + (*changed == given ? ""
                               : "; " + grouped(given - *changed)
                                     + (command == "add" ? " already there" : " not there"))
          + ".\n");
  }
  return exit_fine;
}

int run_change(program& with, suppression_options& options, const std::string& command,
               change_function change) {
  const auto addresses = addresses_of(options);
  if (!addresses)
    return say_wrong_use(addresses.failure().text, "suppressions " + command);
  return with_session(with, [&](session& on, const settings& values) {
    return change_and_tell(on, values, options, *addresses, command, change);
  });
}

int run_list(session& on, const settings& values, const suppression_options& options) {
  const auto environment = find_environment(values, options.environment);
  if (!environment)
    return say_wrong_use(environment.failure().text, "suppressions list");
  const auto found = list_suppressions(on, project_id{1}, *environment,
                                       normalized_address(options.after), options.limit);
  if (!found)
    return say_error(found.failure());
  json_text out;
  out.begin_array();
  table rows{{{"ADDRESS"}, {"REASON"}, {"SINCE"}}};
  for (const auto& one : *found) {
    out.begin_object().member("address", one.address).member("reason", one.reason);
    out.member("created_at", one.created_at).end_object();
    rows.add({printable(one.address, 300), one.reason, one.created_at});
  }
  if (options.as_json)
    print(out.end_array().line());
  else
    print(rows.is_empty() ? "No address is suppressed in " + *environment + ".\n" : rows.text());
  if (!options.as_json && static_cast<std::int32_t>(found->size()) == options.limit)
    print("More: add --after " + found->back().address + "\n");
  return exit_fine;
}

void add_shared(CLI::App& command, const shared_suppression_options& options) {
  command.add_option("--environment", options->environment,
                     "Which one; may be left out where there is only one");
  command.add_option("--project", options->project, "Only default: for others use the HTTP API")
      ->capture_default_str()
      ->check(CLI::IsMember({"default"}));
  command.add_flag("--json", options->as_json, "Print JSON");
}

void add_addresses(CLI::App& command, const shared_suppression_options& options) {
  command.add_option("ADDRESS", options->addresses, "Addresses");
  command.add_option("--file", options->file, "More addresses, one a line; - is standard input")
      ->type_name("FILE");
}

void add_change(CLI::App& suppressions, program& with, const std::string& name,
                const std::string& description, change_function change) {
  const auto options = std::make_shared<suppression_options>();
  auto* const command = suppressions.add_subcommand(name, description);
  add_addresses(*command, options);
  if (name == "add")
    command->add_option("--reason", options->reason, "Why")
        ->capture_default_str()
        ->check(CLI::IsMember({"operator", "bounce", "complaint", "unsubscribe"}));
  add_shared(*command, options);
  command->footer("Examples:\n"
                  "  paceline suppressions "
                  + name
                  + " anna@example.com --environment test\n"
                    "  paceline suppressions "
                  + name + " --file addresses.txt");
  command->callback([&with, options, name, change] {
    with.chosen = [&with, options, name, change] {
      return run_change(with, *options, name, change);
    };
  });
}

void add_list(CLI::App& suppressions, program& with) {
  const auto options = std::make_shared<suppression_options>();
  auto* const list = suppressions.add_subcommand("list", "The addresses that get no mail");
  list->add_option("--after", options->after, "The next page: only addresses behind this one")
      ->type_name("ADDRESS");
  list->add_option("--limit", options->limit, "At most so many")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  add_shared(*list, options);
  list->footer("Examples:\n"
               "  paceline suppressions list --environment test\n"
               "  paceline suppressions list --json | jq -r '.[].address'");
  list->callback([&with, options] {
    with.chosen = [&with, options] {
      return with_session(with, [&options](session& on, const settings& values) {
        return run_list(on, values, *options);
      });
    };
  });
}

} // namespace

void add_suppressions(CLI::App& app, program& with) {
  auto* const suppressions =
      app.add_subcommand("suppressions", "Addresses that get no mail: add, remove, list");
  suppressions->require_subcommand(1);
  suppressions->footer("Looked at in the claim itself: what is committed before it counts.\n"
                       "\n"
                       "Examples:\n"
                       "  paceline suppressions add anna@example.com\n"
                       "  paceline suppressions list --environment test");
  add_change(*suppressions, with, "add", "Suppress addresses", add_page);
  add_change(*suppressions, with, "remove", "Let addresses get mail again", remove_page);
  add_list(*suppressions, with);
}

} // namespace paceline
