/// What the API needs from its surroundings and does not own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
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

/// What is counted of the API; empty functions count nothing. Thread-safe and quick.
struct api_instruments {
  /// After each request: the pattern of its path (`/v1/messages/{id}`; `unknown` where there is
  /// none), the answer's status, and how long it took.
  std::function<void(std::string_view pattern, int status, std::chrono::nanoseconds length)>
      on_request;
  /// After each statement that took messages in: the requests it served.
  std::function<void(std::size_t calls)> on_intake;
};

} // namespace paceline
