/// `paceline messages resolve`: one message, or all unknown ones of a campaign.
#pragma once

namespace CLI {
class App;
}

namespace paceline {

class program;

/// Adds it below `paceline messages`.
void add_messages_resolve(CLI::App& messages, program& with);

} // namespace paceline
