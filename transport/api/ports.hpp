/// What the API needs from its surroundings and does not own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "storage/model/ids.hpp"

namespace paceline {

/// Tells this node and the others that a route has work. Thread-safe, quick, coalesced by whoever
/// implements it; a hint only.
using wake_route_function = std::function<void(const std::string& route)>;

struct health {
  bool is_live = true;              ///< false: the process should be restarted
  bool is_ready = true;             ///< false: send requests elsewhere
  std::vector<std::string> reasons; ///< why not, for people
};
using health_function = std::function<health()>;

} // namespace paceline
