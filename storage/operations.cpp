#include "storage/operations.hpp"

#include "config/text.hpp"
#include "storage/audit.hpp"
#include "storage/clean_text.hpp"
#include "storage/quota.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

constexpr rate slowest = rate::from_millihertz(20);
constexpr rate fastest = rate::from_millihertz(1'000'000'000);

struct locked_route {
  std::string state, reason, name;
};

result<locked_route> lock(session& on, route_id route) {
  const auto rows = on.run(sql::lock_route_state, route);
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return error{error_kind::not_found, "there is no route " + std::to_string(route.value())};
  const auto row = (*rows)[0];
  return locked_route{row["state"].c_str(), row["state_reason"].c_str(), row["name"].c_str()};
}

/// Runs `query` and notes the change, as the end of a transaction.
template <class... Args>
result<done> change(session& on, std::string_view actor, std::string_view action,
                    std::string_view subject, const std::string& detail, const query_text& query,
                    const Args&... args) {
  if (const auto changed = on.run(query, args...); !changed)
    return changed.failure();
  return write_audit(on, actor, action, subject, detail);
}

node_status node_from(const pqxx::row& row) {
  node_status node;
  node.id = node_id{row["id"].as<std::int64_t>()};
  node.name = row["name"].c_str();
  node.version = row["version"].c_str();
  node.started_at = row["started_at"].c_str();
  node.seen_ago_s = row["seen_ago_s"].as<double>();
  node.is_stopping = row["is_stopping"].as<bool>();
  node.has_stopped = row["has_stopped"].as<bool>();
  node.shards = row["shards"].as<std::int32_t>();
  node.in_flight = row["in_flight"].as<std::int32_t>();
  return node;
}

result<std::vector<node_status>> find_nodes(session& on, std::optional<node_id> only) {
  const auto rows = on.run(sql::find_nodes, only);
  if (!rows)
    return rows.failure();
  std::vector<node_status> nodes;
  for (const auto& row : *rows)
    nodes.push_back(node_from(row));
  return nodes;
}

} // namespace

result<std::string> pause_route(session& on, route_id route, std::string_view reason,
                                std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<std::string> {
    const auto found = lock(open, route);
    if (!found)
      return found.failure();
    const auto text = clean_text(reason);
    const auto detail =
        "{\"was\":" + json_string(found->state) + ",\"reason\":" + json_string(text) + "}";
    const auto changed = change(open, actor, "route.pause", found->name, detail,
                                sql::set_route_state, route, "paused", text);
    return changed ? result<std::string>{found->state} : changed.failure();
  });
}

result<std::string> resume_route(session& on, route_id route, std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<std::string> {
    const auto found = lock(open, route);
    if (!found)
      return found.failure();
    if (found->state == "running")
      return found->state;
    if (found->state == "waiting" && found->reason == daily_quota_reason)
      return error{error_kind::refused, found->name
                                            + " waits for the provider's daily quota and goes on "
                                              "by itself when some of it is free"};
    const auto changed = change(open, actor, "route.resume", found->name,
                                "{\"was\":" + json_string(found->state) + "}", sql::set_route_state,
                                route, "running", "");
    return changed ? result<std::string>{found->state} : changed.failure();
  });
}

result<done> override_rate(session& on, route_id route, std::optional<rate> target,
                           std::string_view actor) {
  if (target && (*target < slowest || *target > fastest))
    return error{error_kind::invalid, "rate: 0.02 to 1000000 recipients/s are allowed"};
  return on.in_transaction([&](session& open) -> result<done> {
    const auto found = lock(open, route);
    if (!found)
      return found.failure();
    std::optional<std::int64_t> millihertz;
    if (target)
      millihertz = target->millihertz();
    const auto detail =
        "{\"rate_mhz\":" + (millihertz ? std::to_string(*millihertz) : std::string{"null"}) + "}";
    return change(open, actor, target ? "route.set-rate" : "route.clear-rate", found->name, detail,
                  sql::set_rate_override, route, millihertz);
  });
}

result<std::vector<node_status>> list_nodes(session& on) {
  return find_nodes(on, std::nullopt);
}

result<node_status> show_node(session& on, node_id node) {
  auto found = find_nodes(on, node);
  if (!found)
    return found.failure();
  if (found->empty())
    return error{error_kind::not_found, "there is no node " + std::to_string(node.value())};
  return std::move(found->front());
}

result<done> request_stop(session& on, node_id node, std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<done> {
    const auto asked = open.run(sql::request_node_stop, node);
    if (!asked)
      return asked.failure();
    if (!asked->empty())
      return write_audit(open, actor, "node.stop", std::to_string(node.value()),
                         "{\"name\":" + json_string((*asked)[0][0].c_str()) + "}");
    const auto found = show_node(open, node);
    return found ? error{error_kind::refused,
                         "node " + std::to_string(node.value()) + " has stopped already"}
                 : found.failure();
  });
}

} // namespace paceline
