/// What a configuration that was read again changes in a running node. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace paceline {

struct option_change {
  std::string key, before, after; ///< secrets masked; empty where there was or is no such option
};

struct live_changes {
  std::vector<option_change> live;      ///< can take effect now
  std::vector<std::string> for_restart; ///< keys that wait for a restart of the node
};

/// `in_effect` is what the node runs with, `read` what was read just now.
live_changes find_live_changes(const settings& in_effect, const settings& read);

/// Puts the live values of `read` into `in_effect`; all others stay.
void take_live_values(settings& in_effect, const settings& read);

} // namespace paceline
