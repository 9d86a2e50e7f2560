/// Routes, shards, streams and nodes for people and as JSON: `status` and the lists. Pure.
#pragma once

#include <string>

#include "storage/overview.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"

namespace paceline {

/// A table, and a line for each route whose state needs a reason.
std::string routes_text(const overview& seen, const terminal& on);
std::string shards_text(const overview& seen);
std::string streams_text(const overview& seen);
std::string nodes_text(const std::vector<node_status>& nodes);
/// All of these.
std::string overview_text(const overview& seen, const terminal& on);

/// One array each.
void routes_json(json_text& out, const overview& seen);
void shards_json(json_text& out, const overview& seen);
void nodes_json(json_text& out, const std::vector<node_status>& nodes);
/// One object with four arrays.
void overview_json(json_text& out, const overview& seen);

} // namespace paceline
