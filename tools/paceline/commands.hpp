/// The subcommands. Each `add_...` declares one on the command line with its options, checks and
/// examples; its callback leaves in `program::chosen` what `main` then runs.
#pragma once

namespace CLI {
class App;
}

namespace paceline {

class program;

void add_serve(CLI::App& app, program& with);
void add_migrate(CLI::App& app, program& with);
void add_send(CLI::App& app, program& with);
void add_preview(CLI::App& app, program& with);
void add_status(CLI::App& app, program& with);
void add_routes(CLI::App& app, program& with);
void add_shards(CLI::App& app, program& with);
void add_node(CLI::App& app, program& with);
void add_curve(CLI::App& app, program& with);
void add_messages(CLI::App& app, program& with);
void add_campaigns(CLI::App& app, program& with);
void add_suppressions(CLI::App& app, program& with);
void add_keys(CLI::App& app, program& with);
void add_projects(CLI::App& app, program& with);
void add_audit(CLI::App& app, program& with);
void add_ses(CLI::App& app, program& with);
void add_config(CLI::App& app, program& with);

/// `paceline` with everything but `serve`, which belongs to main.
void add_commands(CLI::App& app, program& with);

/// Parses and runs; returns the exit status. Help goes to standard output.
int run_command_line(CLI::App& app, program& with, int argc, const char* const* argv);

} // namespace paceline
