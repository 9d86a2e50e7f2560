/// What a route needs for its provider, and what unsubscribe links need. Part of `check_settings`.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace paceline {

/// A broken rule about one option of the section.
struct option_fault {
  std::string option; ///< `endpoint`, `secret`, ...
  std::string allowed;
  std::string advice;
};

/// For a route with a real provider. `call_timeout` is the dispatcher's.
std::vector<option_fault> provider_faults(const route_settings& route,
                                          std::chrono::milliseconds call_timeout);

/// `needed`: some route is live, so that its campaigns must carry the link.
std::vector<option_fault> unsubscribe_faults(const unsubscribe_settings& unsubscribe, bool needed);

/// Options that have a value and no meaning for the route's provider.
std::vector<std::string> idle_options(const route_settings& route);

} // namespace paceline
