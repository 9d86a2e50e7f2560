#include "storage/overview.hpp"

#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

route_name route_of(const pqxx::row& row) {
  return {row["environment"].as<std::string>(), row["region"].as<std::string>()};
}

template <class T>
std::optional<T> optional_of(const pqxx::field& field) {
  if (field.is_null())
    return std::nullopt;
  return field.as<T>();
}

std::optional<quota_reading> quota_of(const pqxx::row& row) {
  if (row["quota_age_s"].is_null() || row["max_rate_mhz"].is_null())
    return std::nullopt;
  return quota_reading{.max_send_rate =
                           rate::from_millihertz(row["max_rate_mhz"].as<std::int64_t>()),
                       .max_24h = row["max_24h"].as<std::int64_t>(-1),
                       .sent_24h = row["sent_24h"].as<std::int64_t>(0)};
}

route_overview route_row(const pqxx::row& row) {
  route_overview route;
  route.id = route_id{row["id"].as<std::int64_t>()};
  route.name = route_of(row);
  route.state = row["state"].as<std::string>();
  route.state_reason = row["state_reason"].as<std::string>();
  route.generation = row["generation"].as<std::int32_t>();
  route.shard_count = row["shard_count"].as<std::int32_t>();
  route.target = rate::from_millihertz(row["target_mhz"].as<std::int64_t>());
  if (auto next = optional_of<std::int64_t>(row["next_target_mhz"]))
    route.next_target = rate::from_millihertz(*next);
  if (auto wanted = optional_of<std::int64_t>(row["rate_override_mhz"]))
    route.override_rate = rate::from_millihertz(*wanted);
  route.rate_now = row["rate_now"].as<double>();
  route.quota = quota_of(row);
  route.quota_age_s = optional_of<double>(row["quota_age_s"]);
  route.brake_left_s = row["brake_left_s"].as<double>();
  route.waiting_left_s = row["waiting_left_s"].as<double>();
  if (route.state == "waiting" && route.waiting_left_s <= 0) {
    route.state = "running";
    route.state_reason.clear();
  }
  return route;
}

shard_overview shard_row_of(const pqxx::row& row) {
  shard_overview shard;
  shard.route = route_of(row);
  shard.index = row["index"].as<std::int32_t>();
  shard.count = row["count"].as<std::int32_t>();
  shard.owner = row["owner_name"].as<std::string>();
  shard.owner_id = node_id{row["owner"].as<std::int64_t>()};
  shard.epoch = epoch_id{row["epoch"].as<std::int64_t>()};
  shard.in_flight = row["in_flight"].as<std::int32_t>();
  return shard;
}

stream_overview stream_row(const pqxx::row& row) {
  stream_overview stream;
  stream.id = stream_id{row["id"].as<std::int64_t>()};
  stream.route = route_of(row);
  stream.kind = row["kind"].as<std::string>();
  stream.name = row["name"].as<std::string>();
  stream.state = row["state"].as<std::string>();
  stream.state_reason = row["state_reason"].as<std::string>();
  stream.priority = row["priority"].as<std::int16_t>();
  stream.weight = row["weight"].as<std::int32_t>();
  stream.not_expanded = row["not_expanded"].as<std::int64_t>();
  stream.open = row["open"].as<std::int64_t>();
  stream.unknown = row["unknown"].as<std::int64_t>();
  return stream;
}

template <class Row>
std::optional<error> read_into(std::vector<Row>& into, session& on, const query_text& query,
                               Row (*convert)(const pqxx::row&)) {
  auto rows = on.run(query);
  if (!rows)
    return rows.failure();
  for (const auto& row : *rows)
    into.push_back(convert(row));
  return std::nullopt;
}

/// A column that is not what we expect means a schema that is not ours.
template <class F>
auto guarded(F&& read) -> decltype(read()) {
  try {
    return read();
  } catch (const std::exception& failure) {
    return error{error_kind::internal, std::string{"overview: "} + failure.what()};
  }
}

} // namespace

result<overview> read_overview(session& on) {
  return guarded([&on]() -> result<overview> {
    overview all;
    if (auto failure = read_into(all.routes, on, sql::overview_routes, route_row))
      return *failure;
    if (auto failure = read_into(all.shards, on, sql::overview_shards, shard_row_of))
      return *failure;
    if (auto failure = read_into(all.streams, on, sql::overview_streams, stream_row))
      return *failure;
    auto nodes = list_nodes(on);
    if (!nodes)
      return nodes.failure();
    all.nodes = std::move(*nodes);
    return all;
  });
}

result<server_limits> read_server_limits(session& on) {
  return guarded([&on]() -> result<server_limits> {
    auto rows = on.run(sql::server_limits);
    if (!rows)
      return rows.failure();
    const auto row = (*rows)[0];
    return server_limits{.version = row["version"].as<std::string>(),
                         .max_connections = row["max_connections"].as<std::int32_t>(),
                         .reserved = row["reserved"].as<std::int32_t>(),
                         .in_use = row["in_use"].as<std::int32_t>()};
  });
}

} // namespace paceline
