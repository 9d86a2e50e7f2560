/// The two texts that are made from the table of options. A test keeps the committed files equal to
/// them; PACELINE_UPDATE_REFERENCE=1 in its environment writes the files anew.
#pragma once

#include <string>

namespace paceline {

/// config/paceline.example.toml: a configuration that works, with every default as a comment.
std::string render_example();

/// docs/configuration.md.
std::string render_reference();

} // namespace paceline
