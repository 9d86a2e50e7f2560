/// The shard: one part of one route, from the due rows to the provider's answers.
///
/// It decides nothing by itself: `shard_policy` says what to read and claim, `gate` which slots to
/// use. The shard moves data between the database (`shard_store`), the preparer, the courier
/// (`order_desk`) and the recorder, and keeps count of what is out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <caf/all.hpp>

#include "actors/dispatch/gate.hpp"
#include "actors/dispatch/preparer.hpp"
#include "actors/dispatch/route_instruments.hpp"
#include "actors/dispatch/run_report.hpp"
#include "actors/dispatch/shard_policy.hpp"
#include "actors/dispatch/shard_ports.hpp"
#include "actors/dispatch/upload_gate.hpp"
#include "actors/answers.hpp"
#include "actors/messages.hpp"
#include "config/logging.hpp"

namespace paceline {

/// A reading as the gate wants it.
route_pace to_pace(const route_reading& reading);

struct shard_options {
  policy_settings policy;
  prepare_options prepare;
  upload_limit uploads;
  nanoseconds run = std::chrono::seconds{45};
};

/// Who and what a shard works with; all of it outlives the actor.
struct shard_surroundings {
  shard_store& store;
  order_desk& desk;
  const boot_time& time;
  logger& log;
  caf::actor_addr supervisor, recorder, quota, cluster;
  route_instruments measured = {};
};

/// Owns one shard from ownership to release. Runs on CAF's scheduler; never blocks.
/// Receives: fire_alarm, use_reading, drain_node (supervisor); take_outcomes, forget_messages
///   (recorder); rows_reserved, group_claimed, grant_drawn (database).
/// Sends: end_run, report_drained (supervisor); record_unsent (recorder); heed_refusal,
/// heed_trouble
///   (quota); publish_in_flight (cluster).
/// Persists: the gate, with every claim.
/// After a crash: what was claimed and unrecorded is `attempting`; the supervisor gives the epoch
///   up and the sweep turns what nobody answers for into `acceptance_unknown`.
class shard_actor : public caf::event_based_actor {
public:
  shard_actor(caf::actor_config& config, shard_options options, shard_surroundings around,
              start_shard start, use_reading reading);

  caf::behavior make_behavior() override;
  const char* name() const override { return "shard"; }
  void on_exit() override;

private:
  /// A row between reserve and record.
  struct held_row {
    stream_id stream;
    project_id project;
    key_id key;
    std::shared_ptr<const outgoing_message> message;
    bool alone = false;                              ///< must have a request of its own
    std::optional<database_instant> draw_until = {}; ///< claimed: it may start in slots up to here
    bool ended = false;                              ///< its outcome is with the recorder
  };

  // Time and pace
  database_instant database_now() const { return clock_.at(around_.time.now()); }
  void on_reading(const use_reading& reading);
  bool may_claim() const;
  bool is_granted(route_state state) const;
  rate target_now() const;

  // The run
  void on_alarm(const fire_alarm& alarm);
  void offer(const std::vector<due_stream>& streams);
  void drive();
  void wait_until(database_instant when);
  void finish_run(bool idle);
  void finish_drain();
  void publish_calls();
  void forget(const forget_messages& stored);

  // Reading ahead
  void plan_reading(database_instant now);
  void on_rows(const rows_reserved& answer);
  bool learn_content(const due_message& row, const reserved_rows& read,
                     std::unordered_set<content_id>& learnt);
  /// Rows of a read that did not become messages in hand.
  struct unprepared {
    std::vector<preflight_failure> failures;
    std::vector<attempt> later;                           ///< not readable just now
    std::vector<attempt> again;                           ///< to be read anew
    std::vector<std::pair<attempt, nanoseconds>> put_off; ///< large mail, and for how long
  };
  void prepare_row(const due_message& row, const reserved_rows& read,
                   std::unordered_set<content_id>& learnt, unprepared& others);
  void prepare_pages(const reserved_rows& read);
  void settle_unprepared(unprepared others);
  void drop(const std::vector<attempt>& rows);
  void on_database_error();

  // Claiming and sending
  void plan_claim(database_instant now);
  void plan_grant(database_instant now);
  void send_claim(const group_claim& group);
  void on_claimed(const group_claimed& answer);
  std::vector<message_id> take_claimed(const claim_reply& reply);
  void send_group(const claim_reply& reply, const std::vector<message_id>& claimed);
  void send_rows(const std::vector<message_id>& rows, database_instant not_before,
                 reason_code without_slot);
  std::vector<std::vector<message_id>> to_requests(const std::vector<message_id>& rows) const;
  send_order make_order(const held_row& row, const slot& at) const;

  // Outcomes
  void on_outcomes(const take_outcomes& arrived);
  void draw_again(const std::vector<message_id>& missed);
  void on_outcome(const outcome& what);
  void heed(const outcome& what);
  void give_back(const std::vector<message_id>& rows, reason_code reason);

  shard_options options_;
  shard_surroundings around_;
  shard_row shard_;
  route_id route_;
  shard_gauges gauges_;
  epoch_id epoch_;
  shard_position position_;
  shard_policy policy_;
  preparer preparer_;
  upload_gate uploads_;
  gate_state gate_;
  route_pace pace_;
  route_reading reading_;
  clock_estimate clock_;

  std::unordered_map<message_id, held_row> rows_;
  std::vector<stream_id> streams_;             ///< offered last, in id order
  std::unordered_set<stream_id> of_campaigns_; ///< of these
  std::optional<group_claim> claim_;
  boot_instant claim_sent_{}, reserve_sent_{};
  std::vector<reserve_plan> plans_; ///< asked for and not answered
  std::int32_t largest_cost_ = 1;   ///< of the rows read last: a grant must cover one message
  std::int32_t part_turn_ = 0;      ///< whose rows to take over next where the own part is dry
  boot_instant quiet_until_{};      ///< after a database error nothing is asked before this
  std::int32_t errors_in_a_row_ = 0;

  std::int64_t tick_number_ = 0;
  std::optional<boot_instant> tick_at_;
  std::optional<run_report> run_;
  std::int64_t alarm_ = 0;
  std::int64_t unrecorded_ = 0; ///< rows that ended and are not yet stored
  std::int32_t published_calls_ = 0;
  bool draining_ = false;
  bool drained_ = false;
  bool disowned_ = false; ///< a claim found another owner: nothing more is asked
};

} // namespace paceline
