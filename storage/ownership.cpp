#include "storage/ownership.hpp"

#include "storage/array_literal.hpp"
#include "storage/route_row.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

/// The shards' columns as array parameters.
struct shard_arrays {
  explicit shard_arrays(const std::vector<held_shard>& shards) {
    std::vector<shard_id> id_values;
    std::vector<epoch_id> epoch_values;
    std::vector<std::int32_t> in_flight_values;
    for (const auto& held : shards) {
      id_values.push_back(held.shard);
      epoch_values.push_back(held.epoch);
      in_flight_values.push_back(held.in_flight);
    }
    ids = array_literal(id_values);
    epochs = array_literal(epoch_values);
    in_flight = array_literal(in_flight_values);
  }
  std::string ids, epochs, in_flight;
};

shard_row shard_from(const pqxx::row& row) {
  shard_row shard;
  shard.shard = shard_id{row["id"].as<std::int64_t>()};
  shard.name = {{row["environment"].as<std::string>(), row["region"].as<std::string>()},
                row["index"].as<std::int32_t>(),
                row["count"].as<std::int32_t>()};
  shard.owner = node_id{row["owner"].as<std::int64_t>()};
  shard.owner_name = row["owner_name"].as<std::string>();
  shard.epoch = epoch_id{row["epoch"].as<std::int64_t>()};
  shard.renewal = row["renewal"].as<std::int64_t>();
  shard.in_flight = row["in_flight"].as<std::int32_t>();
  shard.last_slot = instant_from_ns(row["last_slot_ns"].as<std::int64_t>());
  return shard;
}

result<std::optional<seeded_route>> find_route(session& on, const route_name& name) {
  const auto rows = on.run(sql::find_route, name.environment, name.region);
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return std::optional<seeded_route>{};
  const auto row = (*rows)[0];
  return std::optional{
      seeded_route{route_id{row["id"].as<std::int64_t>()}, row["shard_count"].as<std::int32_t>()}};
}

result<nanoseconds> time_round_trip(session& on, const std::string& payload) {
  const auto before = boot_clock::now();
  const auto rows = on.run(sql::round_trip, payload);
  if (!rows)
    return rows.failure();
  return boot_clock::now() - before;
}

result<done> only_success(const result<pqxx::result>& rows) {
  if (!rows)
    return rows.failure();
  return done{};
}

} // namespace

result<node_id> register_node(session& on, std::string_view name, std::string_view version) {
  const auto rows = on.run(sql::register_node, name, version);
  if (!rows)
    return rows.failure();
  return node_id{(*rows)[0][0].as<std::int64_t>()};
}

result<done> retire_node(session& on, node_id node) {
  return only_success(on.run(sql::retire_node, node));
}

result<seeded_route> seed_route(session& on, const route_name& name, std::int32_t shard_count) {
  const auto known = find_route(on, name);
  if (!known)
    return known.failure();
  if (*known)
    return **known;
  const auto seeded = on.run(sql::seed_route, name.environment, name.region, shard_count);
  if (!seeded)
    return seeded.failure();
  const auto found = find_route(on, name);
  if (!found)
    return found.failure();
  if (!*found)
    return error{error_kind::conflict, "route " + name.text() + " vanished while it was made"};
  return **found;
}

result<std::vector<shard_row>> list_shards(session& on, route_id route) {
  const auto rows = on.run(sql::list_shards, route);
  if (!rows)
    return rows.failure();
  std::vector<shard_row> shards;
  for (const auto& row : *rows)
    shards.push_back(shard_from(row));
  return shards;
}

result<acquired_shard> acquire_shard(session& on, node_id node, const shard_row& seen) {
  const auto rows = on.run(sql::acquire_shard, seen.shard, node, seen.epoch, seen.renewal);
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return error{error_kind::refused, "shard " + seen.name.text()
                                          + " went to another node, was "
                                            "renewed, or belongs to an older generation"};
  return acquired_shard{epoch_id{(*rows)[0]["epoch"].as<std::int64_t>()},
                        instant_from_ns((*rows)[0]["last_slot_ns"].as<std::int64_t>())};
}

result<renewal_reply> renew_shards(session& on, node_id node, const std::vector<held_shard>& held,
                                   const std::vector<route_id>& routes) {
  const shard_arrays arrays{held};
  const auto rows = on.run(sql::renew_shards, node, arrays.ids, arrays.epochs, arrays.in_flight,
                           array_literal(routes));
  if (!rows)
    return rows.failure();
  renewal_reply reply;
  for (const auto& id : parse_text_array((*rows)[0]["renewed"].as<std::string>()))
    reply.renewed.emplace_back(std::stoll(id));
  reply.stop_requested = (*rows)[0]["stop_requested"].as<bool>();
  for (const auto& row : *rows)
    if (!row["id"].is_null())
      reply.routes.push_back(reading_from(row));
  return reply;
}

result<database_instant> read_clock(session& on) {
  const auto rows = on.run(sql::read_clock);
  if (!rows)
    return rows.failure();
  return instant_from_ns((*rows)[0][0].as<std::int64_t>());
}

result<done> release_shards(session& on, node_id node, const std::vector<held_shard>& held) {
  const shard_arrays arrays{held};
  return only_success(on.run(sql::release_shards, node, arrays.ids, arrays.epochs));
}

result<done> abandon_shard(session& on, node_id node, const held_shard& held) {
  return only_success(on.run(sql::abandon_shard, node, held.shard, held.epoch));
}

result<done> check_durability(session& on) {
  const auto rows = on.run(sql::read_durability);
  if (!rows)
    return rows.failure();
  const auto row = (*rows)[0];
  if (row["fsync"].as<std::string>() != "on")
    return error{error_kind::refused,
                 "the database runs with fsync = off: a crash of it could make Paceline send "
                 "messages twice. Set fsync = on"};
  const auto commit = row["synchronous_commit"].as<std::string>();
  if (commit == "off" || commit == "local")
    return error{error_kind::refused,
                 "the database answers commits early (synchronous_commit = " + commit
                     + "): a crash of it could make Paceline send messages twice. Set "
                       "synchronous_commit = on for this role"};
  return done{};
}

result<round_trips> measure_round_trips(session& on) {
  // The first call prepares the statement, which is a round trip of its own.
  if (const auto warm = time_round_trip(on, ""); !warm)
    return warm.failure();
  const auto small = time_round_trip(on, "");
  if (!small)
    return small.failure();
  constexpr std::size_t large_octets = 64 * 1024;
  const auto large = time_round_trip(on, std::string(large_octets, 'x'));
  if (!large)
    return large.failure();
  return round_trips{*small, *large};
}

result<std::int32_t> next_id_lane(session& on) {
  const auto rows = on.run(sql::next_id_lane);
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<std::int32_t>();
}

} // namespace paceline
