/// Database threads: each owns one connection and takes work from one bounded queue.
///
/// All blocking database work of Paceline runs here, never on an actor's thread. A connection is
/// thrown away after any error and opened anew for the next piece of work; it is never repaired,
/// since a repaired one has silently lost its settings. `session` is opaque: repositories
/// (`storage/messages.hpp` ...) know what is in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "storage/result.hpp"

namespace paceline {

class session; ///< one connection, used by one thread at a time; defined in storage/session.hpp

struct connection_options {
  std::string dsn;                 ///< libpq's; may hold a password: never logged
  bool prepared_statements = true; ///< false behind a transaction pooler
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds statement_timeout{15000};
  std::string application_name = "paceline";
};

/// Statements and time by query name, for DISPATCH_RUN and the metrics. Thread-safe.
class statement_counts {
public:
  struct entry {
    std::uint64_t statements = 0;
    std::uint64_t errors = 0; ///< of these, those that failed
    std::chrono::nanoseconds time{0};
  };
  void add(std::string_view query, std::chrono::nanoseconds time, bool failed = false);
  std::uint64_t total() const;
  std::map<std::string, entry, std::less<>> snapshot() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, entry, std::less<>> entries_;
};

class database_pool {
public:
  /// Runs on one of the pool's threads. It must not throw and must not keep the session. It gets
  /// nullptr where no connection could be opened (`why` then says so; a retry helps).
  using work = std::function<void(session*, const error& why)>;

  /// Starts `connections` threads (1 to 8); connects lazily. `counts` must outlive the pool.
  database_pool(connection_options options, int connections, std::size_t max_queued,
                statement_counts& counts);
  ~database_pool(); ///< as stop()
  database_pool(const database_pool&) = delete;
  database_pool& operator=(const database_pool&) = delete;

  /// Queues work; false when the queue is full or the pool is stopping (the work is then not
  /// called). Thread-safe.
  [[nodiscard]] bool submit(work task);

  /// Runs what is queued, then joins the threads. Idempotent.
  void stop();

  // Gauges, thread-safe.
  std::size_t queued() const;
  int busy() const; ///< threads at work
  int connections() const;

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// A connection for a program that runs one thing at a time (the CLI, migrations, tests); the
/// caller's thread blocks. Error: unavailable (a retry helps), or invalid if the DSN can't be
/// parsed.
class single_connection {
public:
  static result<single_connection> open(const connection_options& options,
                                        statement_counts& counts);
  single_connection(single_connection&&) noexcept;
  single_connection& operator=(single_connection&&) noexcept;
  ~single_connection();
  session& use() { return *session_; }

private:
  explicit single_connection(std::unique_ptr<session> opened);
  std::unique_ptr<session> session_;
};

} // namespace paceline
