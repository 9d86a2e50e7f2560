/// The recorder: stores what became of every attempt, whoever is left to ask for it.
///
/// Outcomes arrive from the courier (and, for what never started, from shards), are gathered to
/// batches and stored by one statement each. A batch stays here until the database has confirmed
/// it: while the database is away they wait, and beyond a bound the shards stop claiming.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include <caf/all.hpp>

#include "actors/answers.hpp"
#include "actors/messages.hpp"
#include "config/logging.hpp"
#include "config/metrics.hpp"

namespace paceline {

/// How many outcomes wait for the database. Written by the recorder, read by every shard.
class record_backlog {
public:
  explicit record_backlog(std::int64_t bound) : bound_(bound) {}
  void set(std::int64_t waiting) { waiting_.store(waiting, std::memory_order_relaxed); }
  std::int64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  bool is_behind() const { return waiting() >= bound_; }

private:
  std::int64_t bound_;
  std::atomic<std::int64_t> waiting_{0};
};

/// The recorder's way to the database. Thread-safe; outlives the actor.
class record_store {
public:
  virtual ~record_store() = default;
  /// -> outcomes_stored
  virtual void record(const caf::actor_addr& reply_to, std::uint64_t batch,
                      std::shared_ptr<const std::vector<outcome>> outcomes) = 0;
};

/// What the recorder counts; by default nothing.
struct recorder_instruments {
  /// Stored attempts by route and outcome.
  std::unordered_map<route_id, std::array<counter, outcome_kinds>> messages;
  histogram batch_size; ///< of what was stored at once
};

struct recorder_options {
  std::size_t batch = 100;
  nanoseconds delay = std::chrono::milliseconds{250};
  std::size_t statements_at_once = 1;
  recorder_instruments measured;
};

/// One per node; outlives the shards. Runs on CAF's scheduler; never blocks.
/// Receives: bring_outcomes (courier), record_unsent (shards), know_shard, forget_shard,
///   await_recorded (supervisor), outcomes_stored (database).
/// Sends: take_outcomes, forget_messages (shards), check_finished (campaigns), report_recorded.
/// Persists: message states, counters, the dispatch curve.
/// After a crash: what it had not stored is `attempting` and becomes acceptance_unknown.
class recorder_actor : public caf::event_based_actor {
public:
  recorder_actor(caf::actor_config& config, recorder_options options, record_store& store,
                 record_backlog& backlog, const boot_time& time, logger& log,
                 caf::actor_addr campaigns);

  caf::behavior make_behavior() override;
  const char* name() const override { return "recorder"; }

private:
  struct entry {
    shard_id shard;
    route_id route;
    outcome what;
  };
  struct batch {
    std::vector<entry> entries;
    std::int32_t failures = 0;
    boot_instant not_before{};
    bool sent = false;
    bool without_text = false;
  };

  void on_outcomes(const bring_outcomes& arrived);
  void on_stored(const outcomes_stored& answer);
  void on_failed(std::map<std::uint64_t, batch>::iterator failed, const error& why);
  void enqueue(shard_id shard, route_id route, outcome what);
  void flush();
  void send(std::uint64_t number, batch& which);
  void arm();
  void publish_backlog();
  void confirm(const batch& stored);
  void count(const batch& stored) const;

  recorder_options options_;
  record_store& store_;
  record_backlog& backlog_;
  const boot_time& time_;
  logger& log_;
  caf::actor_addr campaigns_;
  std::unordered_map<shard_id, caf::actor_addr> shards_;

  std::deque<entry> waiting_;
  boot_instant oldest_{};                  ///< arrival of the first in `waiting_`
  std::map<std::uint64_t, batch> batches_; ///< sent, or to be sent again
  std::uint64_t last_batch_ = 0;
  std::size_t in_batches_ = 0; ///< entries in `batches_`
  std::int64_t tick_number_ = 0;
  bool tick_armed_ = false;
  caf::actor_addr awaiting_; ///< who wants to hear when all is stored
};

} // namespace paceline
