/// Counts the statements that one database role runs, by pg_stat_statements.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/benchmarks/cluster.hpp"
#include "tools/benchmarks/database.hpp"

namespace paceline::bench {

/// For the cluster's settings: without it there is nothing to count.
inline const char* const statement_counting = "shared_preload_libraries=pg_stat_statements";

/// The role for `serve`, so that what the bench and the command line do is not counted.
inline const char* const counted_role = "paceline_node";

/// Makes the role; once per cluster.
void make_counted_role(cluster& on);

class statement_counter {
public:
  /// For one database, whose connection string is given.
  explicit statement_counter(const std::string& dsn);
  /// Statements so far, BEGIN and COMMIT included.
  std::int64_t count();
  /// The most frequent ones, as (number, beginning of the text).
  std::vector<std::pair<std::int64_t, std::string>> most_frequent();

private:
  database on_;
};

} // namespace paceline::bench
