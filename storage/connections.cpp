#include "storage/connections.hpp"

namespace paceline {

connection_options pooled_connection(const settings& from) {
  connection_options options;
  options.dsn = from.database.dsn;
  options.prepared_statements = from.database.prepared_statements;
  options.connect_timeout = from.database.connect_timeout;
  options.statement_timeout = from.database.statement_timeout;
  return options;
}

connection_options direct_connection(const settings& from) {
  auto options = pooled_connection(from);
  options.dsn = from.database.direct_dsn;
  return options;
}

} // namespace paceline
