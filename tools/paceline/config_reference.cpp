#include "tools/paceline/config_reference.hpp"

#include <CLI/CLI.hpp>

#include <memory>

#include "config/reference.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {

void add_config_reference(CLI::App& config, program& with) {
  auto* const reference = config.add_subcommand(
      "reference", "Print what every option means, its default and its range, as Markdown");
  const auto example = std::make_shared<bool>(false);
  reference->add_flag("--example", *example, "Print a configuration file to begin with instead");
  reference->footer(
      "Of this version of the program; needs neither a configuration nor a database.\n"
      "\n"
      "Examples:\n"
      "  paceline config reference\n"
      "  paceline config reference --example > paceline.toml");
  reference->callback([&with, example] {
    with.chosen = [example]() -> int {
      print(*example ? render_example() : render_reference());
      return exit_fine;
    };
  });
}

} // namespace paceline
