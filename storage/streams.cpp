#include "storage/streams.hpp"

#include "storage/array_literal.hpp"
#include "storage/routes.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

due_stream stream_from(const pqxx::row& row) {
  due_stream stream;
  stream.route = route_id{row["route"].as<std::int64_t>()};
  stream.stream = stream_id{row["id"].as<std::int64_t>()};
  stream.project = project_id{row["project"].as<std::int64_t>()};
  stream.priority = row["priority"].as<std::int16_t>();
  stream.weight = row["weight"].as<std::int32_t>();
  if (!row["rate_cap_mhz"].is_null())
    stream.rate_cap = rate::from_millihertz(row["rate_cap_mhz"].as<std::int64_t>());
  stream.due_in = nanoseconds{row["due_in_ns"].as<std::int64_t>()};
  stream.is_campaign = row["is_campaign"].as<bool>();
  return stream;
}

} // namespace

result<std::vector<due_stream>> due_streams(session& on, const std::vector<route_id>& routes) {
  const auto rows = on.run(sql::due_streams, array_literal(routes));
  if (!rows)
    return rows.failure();
  std::vector<due_stream> streams;
  for (const auto& row : *rows)
    streams.push_back(stream_from(row));
  return streams;
}

result<stream_id> direct_stream(session& on, route_id route, project_id project,
                                std::int16_t priority) {
  for (int tries = 0; tries < 3; ++tries) {
    const auto rows = on.run(sql::find_direct_stream, route, project, priority);
    if (!rows)
      return rows.failure();
    if (!rows->empty())
      return stream_id{(*rows)[0][0].as<std::int64_t>()};
    if (const auto made = on.run(sql::insert_direct_stream, route, project, priority); !made)
      return made.failure();
  }
  return error{error_kind::conflict, "no stream for direct mail could be made; try again"};
}

result<std::vector<route_choice>> find_routes(session& on, std::string_view environment) {
  const auto rows = on.run(sql::find_routes, environment);
  if (!rows)
    return rows.failure();
  std::vector<route_choice> found;
  for (const auto& row : *rows)
    found.push_back({route_id{row[0].as<std::int64_t>()},
                     {std::string{environment}, row[1].c_str()},
                     row[2].c_str()});
  return found;
}

} // namespace paceline
