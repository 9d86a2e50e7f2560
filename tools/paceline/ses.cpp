#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "config/text.hpp"
#include "storage/keys.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "transport/aws/ses_inspection.hpp"

namespace paceline {
namespace {

struct check_options {
  std::string route;
  std::vector<std::string> identities;
  bool as_json = false;
};

struct route_findings {
  std::string route;
  std::vector<setup_finding> findings;
};

/// The routes to look at. Error `invalid` names those that there are.
result<std::vector<std::string>> chosen_routes(const settings& values, const std::string& wanted) {
  std::vector<std::string> found;
  std::string all;
  for (const auto& [name, route] : values.routes) {
    if (route.provider != provider_kind::ses)
      continue;
    (all += all.empty() ? "" : ", ") += name;
    if (wanted.empty() || wanted == name)
      found.push_back(name);
  }
  if (!found.empty())
    return found;
  if (all.empty())
    return error{error_kind::invalid, "no route has provider = \"ses\""};
  return error{error_kind::invalid,
               "no route " + printable(wanted) + " goes to SES; those that do: " + all};
}

/// The domains that projects may send from, where the database answers.
std::vector<std::string> sender_domains(program& with, const settings& values) {
  std::vector<std::string> domains;
  const auto on = with.connect(values);
  if (!on)
    return domains;
  const auto projects = list_projects(**on);
  if (!projects)
    return domains;
  for (const auto& project : *projects)
    for (auto domain : project.sender_domains) {
      if (domain.starts_with("*."))
        domain.erase(0, 2);
      if (std::find(domains.begin(), domains.end(), domain) == domains.end())
        domains.push_back(std::move(domain));
    }
  return domains;
}

std::string findings_json(const std::vector<route_findings>& all, bool is_right) {
  json_text out;
  out.begin_object().member("ok", is_right).key("routes").begin_array();
  for (const auto& [route, findings] : all) {
    out.begin_object().member("route", route).key("checks").begin_array();
    for (const auto& finding : findings) {
      out.begin_object().member("check", finding.what).member("ok", finding.is_right);
      out.member("detail", finding.detail).end_object();
    }
    out.end_array().end_object();
  }
  return out.end_array().end_object().line();
}

std::string findings_text(const std::vector<route_findings>& all) {
  const auto on = describe_terminal(1);
  std::string out;
  for (const auto& [route, findings] : all) {
    out += painted(on, color::bold, printable(route)) + "\n";
    for (const auto& finding : findings)
      out += (finding.is_right ? painted(on, color::green, "ok     ")
                               : painted(on, color::red, "wrong  "))
             + finding.what + ": " + printable(finding.detail, 1000) + "\n";
  }
  return out;
}

int run_ses_check(program& with, const check_options& options) {
  const auto values = with.configured();
  if (!values)
    return exit_wrong_use;
  const auto routes = chosen_routes(*values, options.route);
  if (!routes)
    return say_error(routes.failure());
  const auto identities =
      options.identities.empty() ? sender_domains(with, *values) : options.identities;
  std::vector<route_findings> all;
  for (const auto& name : *routes) {
    try {
      all.push_back({name, inspect_ses(ses_options_of(name, values->routes.at(name),
                                                      values->dispatch.call_timeout),
                                       identities)});
    } catch (const std::runtime_error& wrong) {
      return say_error(error{error_kind::invalid, name + ": " + wrong.what()});
    }
    if (identities.empty())
      all.back().findings.push_back(
          {"identity", false, "nothing says who sends: name domains or addresses by --identity"});
  }
  bool is_right = true;
  for (const auto& one : all)
    for (const auto& finding : one.findings)
      is_right = is_right && finding.is_right;
  print(options.as_json ? findings_json(all, is_right) : findings_text(all));
  return is_right ? exit_fine : exit_failed;
}

} // namespace

void add_ses(CLI::App& app, program& with) {
  auto* const ses = app.add_subcommand("ses", "Look at what Amazon SES needs");
  ses->require_subcommand(1);
  ses->footer("Examples:\n"
              "  paceline ses check\n"
              "  paceline ses check --route live:eu-central-1 --identity example.org --json");
  const auto options = std::make_shared<check_options>();
  auto* const check = ses->add_subcommand(
      "check", "Check credentials, account, identities, configuration set and feedback at AWS");
  check->add_option("--route", options->route, "Only this route; without it all that go to SES")
      ->type_name("ROUTE");
  check
      ->add_option("--identity", options->identities,
                   "Who sends: a domain or an address; without it all domains of projects")
      ->type_name("DOMAIN")
      ->allow_extra_args(false);
  check->add_flag("--json", options->as_json, "Print JSON");
  check->footer(
      "Sends no message and changes nothing. Exit status 1 where something is wrong; each "
      "line says\nwhat to do about it, docs/ses.md how.\n"
      "\n"
      "Examples:\n"
      "  paceline ses check\n"
      "  paceline ses check --identity example.org --identity news@example.com");
  check->callback([&with, options] {
    with.chosen = [&with, options] { return run_ses_check(with, *options); };
  });
}

} // namespace paceline
