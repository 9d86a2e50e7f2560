/// Nodes as an operator names them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/operations.hpp"
#include "storage/result.hpp"

namespace paceline {

/// Renewals come every 1.5 s; a node that was not heard of for so long is gone or cut off.
constexpr double silent_after_s = 30;

/// running, stopping (asked to), silent (not heard of), stopped.
std::string_view node_state(const node_status& node);

/// The node that `wanted` means: an id, a name, or nothing where just one is running. Errors:
/// `not_found`; `invalid` where several have the name, or several run and none was named. Those
/// that are silent count only where named.
result<node_status> pick_node(const std::vector<node_status>& nodes, const std::string& wanted);

} // namespace paceline
