#include "storage/suppressions.hpp"

#include "storage/audit.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

std::vector<std::string> normalized(const std::vector<std::string>& addresses) {
  std::vector<std::string> all;
  for (const auto& address : addresses)
    all.push_back(normalized_address(address));
  return all;
}

/// Runs one statement that counts what it changed, and notes that with it.
template <class Statement>
result<std::int64_t> change(session& on, std::string_view actor, std::string_view action,
                            std::string_view environment, std::size_t given, Statement statement) {
  return on.in_transaction([&](session& open) -> result<std::int64_t> {
    const result<pqxx::result> rows = statement(open);
    if (!rows)
      return rows.failure();
    const auto changed = (*rows)[0][0].template as<std::int64_t>();
    if (changed == 0)
      return changed;
    const auto noted = write_audit(open, actor, action, environment,
                                   "{\"given\":" + std::to_string(given)
                                       + ",\"changed\":" + std::to_string(changed) + "}");
    return noted ? result<std::int64_t>{changed} : noted.failure();
  });
}

} // namespace

result<std::int64_t> add_suppressions(session& on, project_id project, std::string_view environment,
                                      const std::vector<std::string>& addresses,
                                      std::string_view reason, std::string_view actor) {
  return change(on, actor, "suppression.add", environment, addresses.size(), [&](session& open) {
    return open.run(sql::add_suppressions, project, environment,
                    text_array_literal(normalized(addresses)), reason);
  });
}

result<std::int64_t> remove_suppressions(session& on, project_id project,
                                         std::string_view environment,
                                         const std::vector<std::string>& addresses,
                                         std::string_view actor) {
  return change(on, actor, "suppression.remove", environment, addresses.size(), [&](session& open) {
    return open.run(sql::remove_suppressions, project, environment,
                    text_array_literal(normalized(addresses)));
  });
}

result<bool> record_unsubscribe(session& on, project_id project, std::string_view environment,
                                stream_id stream, std::string_view address) {
  const auto rows =
      on.run(sql::record_unsubscribe, project, environment, normalized_address(address), stream);
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<std::int64_t>() == 1;
}

result<suppression> find_suppression(session& on, project_id project, std::string_view environment,
                                     std::string_view address) {
  const auto rows =
      on.run(sql::find_suppression, project, environment, normalized_address(address));
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return error{error_kind::not_found, "This address is not suppressed."};
  const auto row = (*rows)[0];
  return suppression{row[0].c_str(), row[1].c_str(), row[2].c_str()};
}

result<std::vector<suppression>> list_suppressions(session& on, project_id project,
                                                   std::string_view environment,
                                                   std::string_view after, std::int32_t limit) {
  const auto rows = on.run(sql::list_suppressions, project, environment, after, limit);
  if (!rows)
    return rows.failure();
  std::vector<suppression> all;
  for (const auto& row : *rows)
    all.push_back({row[0].c_str(), row[1].c_str(), row[2].c_str()});
  return all;
}

} // namespace paceline
