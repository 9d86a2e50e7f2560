/// The program `paceline`: every command but `serve` lives in the library `paceline_cli`.

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "config/logging.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "tools/paceline/serve.hpp"

extern char** environ;

namespace paceline {

void add_serve(CLI::App& app, program& with) {
  auto* const serve = app.add_subcommand("serve", "Run a node: take shards and send what is due");
  serve->footer("Ends on SIGTERM or Ctrl-C after calls on the wire are finished and recorded.\n"
                "SIGHUP reads the configuration again; the log says what took effect.\n"
                "\n"
                "Examples:\n"
                "  paceline serve\n"
                "  paceline serve --config /etc/paceline/paceline.toml --set log.level=debug");
  serve->callback([&with] {
    with.chosen = [&with]() -> int {
      const auto values = with.configured();
      if (!values)
        return exit_wrong_use;
      logger log{values->log.level, values->log.format};
      for (const auto& warning : values->warnings)
        log.warn(warning);
      return run_serve(
          *values, [&with] { return with.read_configuration(); }, log);
    };
  });
}

} // namespace paceline

int main(int argc, char** argv) {
  paceline::program with{environ};
  CLI::App app;
  app.name("paceline");
  app.set_version_flag("--version", "paceline " PACELINE_VERSION);
  paceline::add_commands(app, with);
  paceline::add_serve(app, with);
  return paceline::run_command_line(app, with, argc, argv);
}
