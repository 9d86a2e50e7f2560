#include "tools/paceline/nodes.hpp"

#include <algorithm>

#include "config/text.hpp"

namespace paceline {
namespace {

bool is_silent(const node_status& node) {
  return node.seen_ago_s > silent_after_s;
}

std::string listed(const std::vector<node_status>& nodes) {
  std::string all;
  for (const auto& node : nodes)
    all += (all.empty() ? "" : ", ") + std::to_string(node.id.value()) + " (" + printable(node.name)
           + ")";
  return all;
}

std::vector<node_status> only_running(const std::vector<node_status>& nodes) {
  std::vector<node_status> running;
  std::ranges::copy_if(nodes, std::back_inserter(running),
                       [](const node_status& node) { return !is_silent(node); });
  return running;
}

} // namespace

std::string_view node_state(const node_status& node) {
  if (node.has_stopped)
    return "stopped";
  if (is_silent(node))
    return "silent";
  return node.is_stopping ? "stopping" : "running";
}

result<node_status> pick_node(const std::vector<node_status>& nodes, const std::string& wanted) {
  auto fitting = only_running(nodes);
  if (wanted.empty()) {
    if (fitting.empty())
      return error{error_kind::not_found, "No node is running."};
    if (fitting.size() > 1)
      return error{error_kind::invalid,
                   "Several nodes are running; name one of " + listed(fitting) + "."};
    return fitting.front();
  }
  for (const auto& node : nodes)
    if (std::to_string(node.id.value()) == wanted)
      return node;
  const auto has_other_name = [&wanted](const node_status& node) { return node.name != wanted; };
  std::erase_if(fitting, has_other_name);
  if (fitting.empty()) { // a silent one is better than none: the caller sees what it is
    fitting = nodes;
    std::erase_if(fitting, has_other_name);
  }
  if (fitting.empty())
    return error{error_kind::not_found,
                 "There is no node " + printable(wanted) + ". "
                     + (nodes.empty() ? "None is running." : "Known: " + listed(nodes) + ".")};
  if (fitting.size() > 1)
    return error{error_kind::invalid, "Several nodes have the name " + printable(wanted)
                                          + "; give the id of one: " + listed(fitting) + "."};
  return fitting.front();
}

} // namespace paceline
