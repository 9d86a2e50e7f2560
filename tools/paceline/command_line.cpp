#include <cstdio>

#include <CLI/CLI.hpp>

#include "config/text.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

std::string check_override(const std::string& pair) {
  const auto end = pair.find('=');
  return end == std::string::npos || end == 0 ? "write --set key=value, not '" + pair + "'"
                                              : std::string{};
}

/// The subcommands that were recognised, as one would type them.
std::string given_command(const CLI::App& app) {
  for (const auto* sub : app.get_subcommands()) {
    const auto below = given_command(*sub);
    return sub->get_name() + (below.empty() ? "" : " " + below);
  }
  return {};
}

int finish_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return status;
  say("can't write to standard output");
  return status == exit_fine ? exit_failed : status;
}

} // namespace

void add_commands(CLI::App& app, program& with) {
  app.description("Paceline sends messages exactly as fast as the provider's quota allows: evenly, "
                  "steadily, and never twice.");
  app.require_subcommand(1);
  app.fallthrough();
  app.get_formatter()->column_width(34);
  app.set_help_flag("-h,--help", "This help");
  app.add_option("--config", with.shared.config,
                 "Configuration file (default: ./paceline.toml, else /etc/paceline/paceline.toml)")
      ->type_name("FILE");
  app.add_option("--set", with.shared.overrides,
                 "Overrides one option of the configuration; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_override, ""));
  app.footer(
      "Examples:\n"
      "  paceline migrate\n"
      "  paceline serve --config paceline.toml\n"
      "  paceline send --route test:sim --csv people.csv --from 'News <news@example.com>' \\\n"
      "      --subject-file subject.txt --text-file body.txt --wait\n"
      "  paceline status\n"
      "\n"
      "`paceline COMMAND --help` tells more. Exit status: 0 fine, 1 the operation failed,\n"
      "2 wrong use or bad configuration, 130 interrupted.");
  add_migrate(app, with);
  add_send(app, with);
  add_preview(app, with);
  add_status(app, with);
  add_routes(app, with);
  add_shards(app, with);
  add_node(app, with);
  add_curve(app, with);
  add_campaigns(app, with);
  add_messages(app, with);
  add_suppressions(app, with);
  add_keys(app, with);
  add_projects(app, with);
  add_audit(app, with);
  add_ses(app, with);
  add_config(app, with);
}

int run_command_line(CLI::App& app, program& with, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) { // --help, --version
    app.exit(wanted);
    return finish_output(exit_fine);
  } catch (const CLI::RequiredError& wrong) {
    // It says that a command is required also where there is one that it doesn't know.
    const auto unknown = app.remaining(true);
    return say_wrong_use(unknown.empty()
                             ? std::string{wrong.what()}
                             : "there is no command '" + printable(unknown.front()) + "' here",
                         given_command(app));
  } catch (const CLI::ParseError& wrong) {
    return say_wrong_use(wrong.what(), given_command(app));
  }
  return finish_output(with.chosen());
}

} // namespace paceline
