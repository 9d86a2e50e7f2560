/// The supervisor: keeps this node's shards running, and nothing else.
///
/// It spawns a shard when the cluster says that this node owns it, arms its alarms while there is
/// work, starts over what died (with a fresh epoch), passes readings of routes on, and drains
/// everything on shutdown. What crashes have left behind is the sweeper's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include "actors/dispatch/shard.hpp"
#include "actors/answers.hpp"
#include "actors/messages.hpp"
#include "config/logging.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// Gives every shard its way to the database. Called on the supervisor's thread; quick.
class shard_store_directory {
public:
  virtual ~shard_store_directory() = default;
  /// The same store for the same shard of the same route each time.
  virtual shard_store& store_of(const shard_row& shard, route_id route) = 0;
};

struct supervised_route {
  route_id id;
  std::string text;
  caf::actor quota;
  policy_settings policy;
  route_instruments measured = {};
  prepare_options prepare = {};
  upload_limit uploads = {};
};

struct supervisor_options {
  std::string node_name;
  std::vector<supervised_route> routes;
  nanoseconds poll = std::chrono::seconds{1};
  nanoseconds run = std::chrono::seconds{45};
  gauge clock_error; ///< in seconds
};

struct supervisor_surroundings {
  database_pool& control; ///< polls
  shard_store_directory& stores;
  order_desk& desk;
  const boot_time& time;
  logger& log;
  caf::actor recorder, campaigns;
};

/// One per node. Runs on CAF's scheduler; never blocks.
/// Receives: start_shard, stop_shard, use_reading, report_released (cluster); end_run,
///   report_drained (shards); wake_route (listener, campaigns); report_recorded (recorder);
///   drain_node (main).
/// Sends: fire_alarm, use_reading, drain_node (shards);
///   know_shard, forget_shard, await_recorded (recorder); abandon_shard_ownership,
///   release_ownership (cluster).
/// Persists: nothing.
/// After a crash: nothing of its own is lost; the next poll finds the work.
class supervisor_actor : public caf::event_based_actor {
public:
  /// `drained` is called once, when a drain is complete.
  supervisor_actor(caf::actor_config& config, supervisor_options options,
                   supervisor_surroundings around, std::function<void()> drained);

  caf::behavior make_behavior() override;
  const char* name() const override { return "supervisor"; }
  void on_exit() override;

private:
  struct child {
    caf::actor actor;
    start_shard start;
    std::int64_t alarm = 0;
    bool running = false; ///< a run goes on
    bool drained = false;
  };

  void start(const start_shard& order);
  void stop(shard_id shard, epoch_id epoch);
  void on_down(const caf::down_msg& down);
  void show_ownership(route_id route) const;
  void on_reading(const use_reading& reading);
  void fire(child& which);
  void on_run_ended(const end_run& ended);
  void on_measured(const round_trips_measured& answer);

  void poll();
  void on_polled(const streams_polled& answer);
  void offer(route_id route, std::shared_ptr<const std::vector<due_stream>> streams);
  void poll_in(nanoseconds wait);

  void drain();
  void check_drained();
  const supervised_route* find_route(route_id id) const;
  template <class Message>
  void to_shards_of(route_id route, const Message& message);

  supervisor_options options_;
  supervisor_surroundings around_;
  std::function<void()> drained_;
  caf::actor cluster_;
  std::map<shard_id, child> children_;
  std::map<route_id, use_reading> readings_;
  std::set<route_id> offered_; ///< routes whose last poll found streams
  std::int64_t poll_number_ = 0;
  bool polling_ = false;
  bool poll_again_ = false;
  bool draining_ = false;
  bool recorded_asked_ = false;
};

} // namespace paceline
