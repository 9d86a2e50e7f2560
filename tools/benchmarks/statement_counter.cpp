#include "tools/benchmarks/statement_counter.hpp"

namespace paceline::bench {
namespace {

const std::string of_the_node = " FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid"
                                " JOIN pg_database d ON d.oid = s.dbid"
                                " WHERE d.datname = current_database() AND r.rolname = '"
                                + std::string{counted_role} + "'";

} // namespace

void make_counted_role(cluster& on) {
  database(on.dsn()).run("CREATE ROLE " + std::string{counted_role} + " SUPERUSER LOGIN");
}

statement_counter::statement_counter(const std::string& dsn) : on_(dsn) {
  on_.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
}

std::int64_t statement_counter::count() {
  return on_.run("SELECT coalesce(sum(s.calls), 0)::bigint" + of_the_node).integer(0, 0);
}

std::vector<std::pair<std::int64_t, std::string>> statement_counter::most_frequent() {
  const auto found = on_.run("SELECT s.calls, left(regexp_replace(s.query, '\\s+', ' ', 'g'), 70)"
                             + of_the_node + " ORDER BY s.calls DESC LIMIT 12");
  std::vector<std::pair<std::int64_t, std::string>> all;
  for (int i = 0; i < found.count(); ++i)
    all.emplace_back(found.integer(i, 0), found.text(i, 1));
  return all;
}

} // namespace paceline::bench
