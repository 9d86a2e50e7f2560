/// What must hold between options: each value may be in range and the whole still be wrong.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace paceline {

/// Every broken rule of `checked`. Rules about a key in `failed` are left out: its value is wrong
/// anyway, and a second error would only confuse. Values and sources come from `checked.rows`.
std::vector<config_error> check_settings(const settings& checked,
                                         const std::set<std::string>& failed = {});

/// What is allowed but perhaps not meant.
std::vector<std::string> find_doubts(const settings& checked);

} // namespace paceline
