/// The database behind the actors' ports: shard_store and record_store on pools.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "actors/dispatch/shard_ports.hpp"
#include "actors/recorder.hpp"
#include "actors/supervisor.hpp"
#include "config/logging.hpp"
#include "storage/pool.hpp"
#include "storage/records.hpp"

namespace paceline {

/// One shard's small pool. Thread-safe.
class pool_shard_store final : public shard_store {
public:
  struct options {
    connection_options connection;
    int connections = 1;
    nanoseconds preflight_retry = std::chrono::seconds{15};
    std::int32_t writer = 0; ///< of counters
    logger* log = nullptr;   ///< hears of statements that failed and that nobody waits for
  };
  pool_shard_store(options how, route_id route, const record_backlog& backlog);

  void reserve(const caf::actor_addr& reply_to, reserve_request,
               std::vector<content_id> known) override;
  void claim(const caf::actor_addr& reply_to, claim_request) override;
  void reject(std::vector<preflight_failure>) override;
  void postpone(std::vector<attempt>, std::optional<nanoseconds> wait) override;
  void draw_grant(const caf::actor_addr& reply_to, std::int64_t wanted) override;
  void measure(const caf::actor_addr& reply_to, const start_shard& of) override;
  std::uint64_t statements() const override { return counts_.total(); }
  bool is_recording_behind() const override { return backlog_.is_behind(); }
  /// As database_pool::stop.
  void stop() { pool_.stop(); }
  const statement_counts& counted() const { return counts_; }
  const database_pool& pool() const { return pool_; }

private:
  options how_;
  route_id route_;
  const record_backlog& backlog_;
  statement_counts counts_;
  database_pool pool_;
};

/// The stores of a node's shards. A store outlives the actors that use it and is used again when
/// the shard comes back.
class pool_store_directory final : public shard_store_directory {
public:
  using make_options = std::map<route_id, pool_shard_store::options>;
  pool_store_directory(make_options by_route, const record_backlog& backlog)
      : by_route_(std::move(by_route)), backlog_(backlog) {}
  shard_store& store_of(const shard_row& shard, route_id route) override;
  /// Joins all database threads; what is asked of the stores afterwards is answered `overloaded`.
  void stop();
  /// Calls `look` for each store there is; waits for a stop that goes on.
  void visit(const std::function<void(const pool_shard_store&)>& look) const;

private:
  make_options by_route_;
  const record_backlog& backlog_;
  mutable std::mutex mutex_; ///< the supervisor opens stores, main stops them
  bool stopped_ = false;
  std::map<shard_id, std::unique_ptr<pool_shard_store>> stores_;
};

/// The recorder's pool.
class pool_record_store final : public record_store {
public:
  pool_record_store(database_pool& pool, backoff_settings backoff, std::int32_t writer)
      : pool_(pool), backoff_(backoff), writer_(writer) {}
  void record(const caf::actor_addr& reply_to, std::uint64_t batch,
              std::shared_ptr<const std::vector<outcome>> outcomes) override;

private:
  database_pool& pool_;
  backoff_settings backoff_;
  std::int32_t writer_;
};

} // namespace paceline
