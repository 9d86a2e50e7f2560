#include "storage/audit.hpp"

#include <limits>

#include "storage/clean_text.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {

result<done> write_audit(session& on, std::string_view actor, std::string_view action,
                         std::string_view subject, std::string_view detail) {
  // An actor's name holds a user's and a machine's: texts from outside.
  const auto written = on.run(sql::insert_audit, clean_text(actor), action, subject, detail);
  if (!written)
    return written.failure();
  return done{};
}

result<std::vector<audit_entry>> list_audit(session& on, std::int64_t before, std::int32_t limit) {
  if (limit < 1 || limit > 1000)
    return error{error_kind::invalid, "limit: 1 to 1000 are allowed"};
  const auto below = before == 0 ? std::numeric_limits<std::int64_t>::max() : before;
  const auto rows = on.run(sql::list_audit, below, limit);
  if (!rows)
    return rows.failure();
  std::vector<audit_entry> entries;
  for (const auto& row : *rows)
    entries.push_back({row[0].as<std::int64_t>(), row[1].c_str(), row[2].c_str(), row[3].c_str(),
                       row[4].c_str(), row[5].c_str()});
  return entries;
}

} // namespace paceline
