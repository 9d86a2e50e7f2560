#include <CLI/CLI.hpp>

#include <memory>

#include "config/text.hpp"
#include "storage/keys.hpp"
#include "storage/suppressions.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

struct project_options {
  std::string name;
  std::vector<std::string> domains;
  std::optional<std::int64_t> max_outstanding;
  bool any_domain = false, as_json = false;
};
using shared_project_options = std::shared_ptr<project_options>;

/// A domain that a sender's address can have, in lower case; nothing if it is none.
std::optional<std::string> domain_of(const std::string& text) {
  const auto checked = check_address("a@" + text);
  if (!checked.address)
    return std::nullopt;
  const auto address = normalized_address(*checked.address);
  return address.substr(address.find('@') + 1);
}

std::string is_domain(const std::string& text) {
  return domain_of(text) ? std::string{}
                         : "'" + printable(text) + "' is no domain: write example.com";
}

std::string domains_text(const project& which) {
  std::string all;
  for (const auto& domain : which.sender_domains)
    all += (all.empty() ? "" : ", ") + printable(domain, 300);
  return all.empty() ? "any" : all;
}

int run_list(session& on, const project_options& options) {
  const auto projects = list_projects(on);
  if (!projects)
    return say_error(projects.failure());
  json_text out;
  out.begin_array();
  table rows{{{"PROJECT"}, {"SENDER DOMAINS"}, {"MAX OUTSTANDING", align::right}, {"CREATED"}}};
  for (const auto& each : *projects) {
    out.begin_object().member("project", each.name).key("sender_domains").begin_array();
    for (const auto& domain : each.sender_domains)
      out.value(domain);
    out.end_array().member("max_outstanding", each.max_outstanding);
    out.member("created_at", each.created_at).end_object();
    rows.add({each.name, domains_text(each), grouped(each.max_outstanding), each.created_at});
  }
  print(options.as_json ? out.end_array().line() : rows.text());
  return exit_fine;
}

std::optional<std::vector<std::string>> domains_of(const project_options& options) {
  if (options.any_domain)
    return std::vector<std::string>{};
  if (options.domains.empty())
    return std::nullopt;
  std::vector<std::string> domains;
  for (const auto& text : options.domains)
    if (auto domain = *domain_of(text); std::ranges::find(domains, domain) == domains.end())
      domains.push_back(std::move(domain));
  return domains;
}

int tell(const project_options& options, const char* told) {
  json_text out;
  out.begin_object().member("project", options.name).end_object();
  print(options.as_json ? out.line() : "Project " + options.name + " " + told + ".\n");
  return exit_fine;
}

int run_create(session& on, const project_options& options) {
  auto ids = make_id_source(on);
  if (!ids)
    return say_error(ids.failure());
  const auto created = create_project(on, *ids, options.name, operator_name());
  if (!created)
    return say_error(created.failure());
  const auto domains = domains_of(options);
  if (domains || options.max_outstanding)
    if (const auto set =
            change_project(on, options.name, domains, options.max_outstanding, operator_name());
        !set)
      return say_error(set.failure());
  return tell(options, "is there");
}

int run_set(session& on, const project_options& options) {
  const auto set = change_project(on, options.name, domains_of(options), options.max_outstanding,
                                  operator_name());
  return set ? tell(options, "is changed") : say_error(set.failure());
}

CLI::App* add_one(CLI::App& projects, const char* name, const char* description,
                  const shared_project_options& options) {
  auto* const command = projects.add_subcommand(name, description);
  command->add_option("NAME", options->name, "The project")->required();
  auto* const domains =
      command
          ->add_option("--sender-domain", options->domains,
                       "What its senders' addresses may have, also as a parent; may be repeated")
          ->allow_extra_args(false)
          ->delimiter(',')
          ->check(is_domain);
  command->add_flag("--any-sender-domain", options->any_domain, "All of them")->excludes(domains);
  command
      ->add_option("--max-outstanding", options->max_outstanding,
                   "Messages waiting in one environment; above it nothing more is taken")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000}));
  command->add_flag("--json", options->as_json, "Print JSON");
  return command;
}

void add_list(CLI::App& projects, program& with) {
  const auto options = std::make_shared<project_options>();
  auto* const list = projects.add_subcommand("list", "Every project with its limits");
  list->add_flag("--json", options->as_json, "Print JSON");
  list->footer("Examples:\n"
               "  paceline projects list\n"
               "  paceline projects list --json");
  list->callback([&with, options] {
    with.chosen = [&with, options] {
      return with_session(with, [&options](session& on) { return run_list(on, *options); });
    };
  });
}

} // namespace

void add_projects(CLI::App& app, program& with) {
  auto* const projects = app.add_subcommand("projects", "Who sends: list, create, set");
  projects->require_subcommand(1);
  projects->footer("Examples:\n"
                   "  paceline projects create shop --sender-domain shop.example.com\n"
                   "  paceline projects set shop --max-outstanding 100000");
  add_list(*projects, with);
  const auto made = std::make_shared<project_options>();
  auto* const create = add_one(*projects, "create", "Make a project", made);
  create->footer("Examples:\n"
                 "  paceline projects create shop\n"
                 "  paceline projects create shop --sender-domain shop.example.com");
  create->callback([&with, made] {
    with.chosen = [&with, made] {
      return with_session(with, [&made](session& on) { return run_create(on, *made); });
    };
  });
  const auto changed = std::make_shared<project_options>();
  auto* const set = add_one(*projects, "set", "Change a project's limits", changed);
  set->footer("Running nodes follow within seconds.\n"
              "\n"
              "Examples:\n"
              "  paceline projects set shop --sender-domain example.com,example.org\n"
              "  paceline projects set shop --any-sender-domain --max-outstanding 100000");
  set->callback([&with, changed] {
    with.chosen = [&with, changed] {
      if (changed->domains.empty() && !changed->any_domain && !changed->max_outstanding)
        return say_wrong_use("Say what to change.", "projects set");
      return with_session(with, [&changed](session& on) { return run_set(on, *changed); });
    };
  });
}

} // namespace paceline
