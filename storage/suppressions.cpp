#include "storage/suppressions.hpp"

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

result<std::int64_t> first_number(const result<pqxx::result>& rows) {
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<std::int64_t>();
}

} // namespace

result<std::int64_t> add_suppressions(session& on, project_id project, std::string_view environment,
                                      const std::vector<std::string>& addresses,
                                      std::string_view reason) {
  return first_number(on.run(sql::add_suppressions, project, environment,
                             text_array_literal(normalized(addresses)), reason));
}

result<std::int64_t> remove_suppressions(session& on, project_id project,
                                         std::string_view environment,
                                         const std::vector<std::string>& addresses) {
  return first_number(on.run(sql::remove_suppressions, project, environment,
                             text_array_literal(normalized(addresses))));
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
