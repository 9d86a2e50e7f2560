/// The routes of an environment, for whoever lets a sender choose among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct route_choice {
  route_id route;
  route_name name;
  std::string state; ///< running, waiting, stopped or paused: all take messages in
};

/// In order of their regions; empty for an environment that nobody has seeded. Routes are few and
/// seldom change: a caller may keep the answer for a minute. Blocks; may be repeated.
result<std::vector<route_choice>> find_routes(session&, std::string_view environment);

} // namespace paceline
