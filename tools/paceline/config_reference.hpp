/// `paceline config reference`.
#pragma once

namespace CLI {
class App;
}

namespace paceline {

class program;

/// Adds it below `paceline config`.
void add_config_reference(CLI::App& config, program& with);

} // namespace paceline
