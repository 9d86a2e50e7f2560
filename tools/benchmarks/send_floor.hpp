/// Floors of what the API does: the same rows and the same commit, without any of our code between.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace paceline::bench {

/// HTTP (cpp-httplib as it comes, with a thread and a database connection for each client) and one
/// INSERT with its commit per request; floor.sql, `floor_take_one`. Serves until destroyed.
class send_floor {
public:
  /// `dsn`: a migrated database with the one route of a bench.
  send_floor(const std::string& dsn, int clients);
  ~send_floor();
  int port() const;

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// Inserts that many messages with one content each call, `calls` at a time on as many connections,
/// by libpq (floor.sql, `floor_take_many`); returns messages per second.
double run_batch_floor(const std::string& dsn, std::int64_t messages, std::int64_t per_call,
                       int calls_at_once);

} // namespace paceline::bench
