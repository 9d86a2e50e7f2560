#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "config/listen_address.hpp"
#include "config/text.hpp"
#include "storage/overview.hpp"
#include "storage/schema.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/config_reference.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

/// What the database said, if it answered.
struct database_answer {
  std::optional<server_limits> limits;
  std::string problem; ///< why there are no limits
};

database_answer ask_database(program& with, const settings& values) {
  auto on = with.connect_directly(values);
  if (!on)
    return {{}, on.failure().text};
  auto limits = read_server_limits(**on);
  if (!limits)
    return {{}, limits.failure().text};
  return {std::move(*limits), {}};
}

int show_errors(const std::vector<config_error>& errors, bool as_json) {
  if (as_json) {
    json_text out;
    out.begin_object().member("ok", false).key("errors").begin_array();
    for (const auto& wrong : errors) {
      out.begin_object().member("key", wrong.key).text_or_null("value", wrong.value);
      out.text_or_null("allowed", wrong.allowed).text_or_null("source", wrong.source);
      out.member("advice", wrong.advice).end_object();
    }
    print(out.end_array().end_object().line());
    return exit_wrong_use;
  }
  for (const auto& wrong : errors)
    say(wrong.text());
  say(counted(static_cast<std::int64_t>(errors.size()), "error") + "; nothing can start like this");
  return exit_wrong_use;
}

/// Connections that remain for us, when everybody who is there now stays.
std::int64_t free_connections(const server_limits& limits) {
  return limits.max_connections - limits.reserved;
}

/// Listeners that the network reaches in plain HTTP.
void warn_of_plain_listeners(const settings& values, std::vector<std::string>& warnings) {
  const auto look = [&warnings](const char* key, const listener_settings& at,
                                const char* what_is_read) {
    const auto address = parse_listen_address(at.listen);
    if (address && !address->is_loopback() && at.tls_certificate.empty())
      warnings.push_back(std::string{key} + ".listen = " + at.listen
                         + " is plain HTTP beyond this machine: " + what_is_read
                         + ". Set tls_certificate and tls_key, or listen on 127.0.0.1 behind a "
                           "proxy.");
  };
  look("api", values.api, "API keys and messages travel readable");
  look("admin", values.admin, "health and metrics are open to whoever reaches it");
}

std::vector<std::string> warnings_of(const settings& values, const database_answer& answer) {
  auto warnings = values.warnings;
  warn_of_plain_listeners(values, warnings);
  const auto demand = connection_demand(values);
  if (!answer.limits)
    warnings.push_back("The database didn't answer, so its limits are not checked: "
                       + answer.problem);
  else if (demand > free_connections(*answer.limits))
    warnings.push_back("One node that owns every shard needs " + grouped(demand)
                       + " connections, but the server allows "
                       + grouped(free_connections(*answer.limits))
                       + ": raise max_connections, or lower routes.<route>.pool or shards.");
  return warnings;
}

std::string check_json(const settings& values, const database_answer& answer,
                       const std::vector<std::string>& warnings) {
  json_text out;
  out.begin_object().member("ok", true).key("options").begin_array();
  for (const auto& row : values.rows) {
    out.begin_object().member("key", row.key).member("value", row.value);
    out.member("source", row.source).end_object();
  }
  out.end_array().key("warnings").begin_array();
  for (const auto& warning : warnings)
    out.value(warning);
  out.end_array().key("connections").begin_object();
  out.member("demand", connection_demand(values)).key("max_connections");
  answer.limits ? out.value(answer.limits->max_connections) : out.null();
  out.key("reserved");
  answer.limits ? out.value(answer.limits->reserved) : out.null();
  out.key("in_use");
  answer.limits ? out.value(answer.limits->in_use) : out.null();
  return out.end_object().end_object().line();
}

std::string check_text(const settings& values, const database_answer& answer,
                       const std::vector<std::string>& warnings) {
  const auto on = describe_terminal(1);
  table rows{{{"OPTION"}, {"VALUE"}, {"SOURCE"}}};
  for (const auto& row : values.rows)
    rows.add({row.key, printable(row.value, 120), printable(row.source)});
  std::string out = rows.text() + "\nOne node that owns every shard holds "
                    + counted(connection_demand(values), "database connection");
  if (answer.limits)
    out += "; PostgreSQL " + printable(answer.limits->version) + " allows "
           + grouped(free_connections(*answer.limits)) + ", of which "
           + grouped(answer.limits->in_use) + " are in use now";
  out += ".\n";
  for (const auto& warning : warnings)
    out += painted(on, color::yellow, "warning: ") + printable(warning, 1000) + "\n";
  return out + painted(on, color::green, "The configuration is fine.") + "\n";
}

int run_check(program& with, bool as_json) {
  const auto read = with.read_configuration();
  if (const auto* errors = std::get_if<std::vector<config_error>>(&read))
    return show_errors(*errors, as_json);
  const auto& values = std::get<settings>(read);
  const auto answer = ask_database(with, values);
  const auto warnings = warnings_of(values, answer);
  print(as_json ? check_json(values, answer, warnings) : check_text(values, answer, warnings));
  return exit_fine;
}

} // namespace

void add_config(CLI::App& app, program& with) {
  auto* const config = app.add_subcommand("config", "Look at the configuration");
  config->require_subcommand(1);
  config->footer("Examples:\n"
                 "  paceline config check\n"
                 "  paceline config check --config /etc/paceline/paceline.toml --json\n"
                 "  paceline config reference");
  add_config_reference(*config, with);
  auto* const check = config->add_subcommand(
      "check", "Print every option with its source, warnings, and the need for connections");
  const auto as_json = std::make_shared<bool>(false);
  check->add_flag("--json", *as_json, "Print JSON");
  check->footer("Exit status 2 and all errors at once where something is wrong. A database that "
                "doesn't\nanswer is only a warning.\n"
                "\n"
                "Examples:\n"
                "  paceline config check\n"
                "  paceline config check --set dispatch.max_group=50");
  check->callback(
      [&with, as_json] { with.chosen = [&with, as_json] { return run_check(with, *as_json); }; });
}

} // namespace paceline
