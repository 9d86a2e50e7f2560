/// The shards of one route in virtual time, with the real recorder and the courier's real core, and
/// fakes for the database, the provider and the supervisor.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/dispatch/shard.hpp"
#include "actors/node_metrics.hpp"
#include "actors/recorder.hpp"
#include "test/actor/listener.hpp"
#include "test/support/captured_log.hpp"
#include "test/support/fake_stores.hpp"
#include "test/support/virtual_desk.hpp"

namespace paceline::test {

struct stage_plan {
  std::int32_t shards = 1;
  double target = 22;
  nanoseconds database = std::chrono::milliseconds{4}; ///< of a statement
  nanoseconds run = std::chrono::seconds{45};
  std::int64_t outcomes_waiting = 20'000;
};

class shard_stage {
public:
  explicit shard_stage(stage_plan what);

  static constexpr stream_id news{10};
  static constexpr stream_id direct{5};
  static constexpr route_id route{1};

  /// Due at once.
  std::vector<message_id> add(stream_id stream, int count, const std::string& fields = "{}");
  /// As the supervisor's poll: shards hear of the streams, and those that rest are woken.
  void poll();
  /// As the supervisor and the cluster: polls every second, renews every 1.5 s, fires again.
  void supervise();
  void renew();
  void tell_all(const use_reading& reading);
  use_reading reading() const;
  /// A new grid in `lead`, as the quota actor's statement writes it.
  void announce(double target, nanoseconds lead);
  void drain();

  const std::vector<started_call>& ledger() const { return desk.ledger; }
  /// True when every message is in a final state and recorded.
  bool is_done() const;
  /// Messages that started more often than once and were accepted each time.
  std::int64_t accepted_twice() const;
  std::int64_t count(message_status status) const { return table.count(status); }

  stage_plan plan;
  metrics measured;
  virtual_time time;
  captured_log log;
  fake_table table;
  record_backlog backlog;
  virtual_desk desk{time};
  fake_record_store records;
  std::vector<std::unique_ptr<fake_shard_store>> stores;
  heard supervisor, quota, cluster, campaigns;
  caf::actor recorder;
  std::vector<caf::actor> shards;
  bool is_supervised = false; ///< ended runs are fired again
  bool is_polling = false;

private:
  struct child {
    std::int64_t alarm = 0;
    bool running = false;
  };
  void spawn_shard(std::int32_t index, const std::vector<caf::actor>& around);
  void on_ended(const end_run& ended);
  void poll_again();
  void renew_again();

  std::vector<child> children_;
};

/// How many starts too many the worst sliding second has (promise 3, one recipient each, one node).
double worst_excess(const std::vector<started_call>& ledger, double target);
/// Starts per second between the first and the last.
double mean_rate(const std::vector<started_call>& ledger);
/// The longest time between two starts.
nanoseconds longest_gap(const std::vector<started_call>& ledger);

} // namespace paceline::test
