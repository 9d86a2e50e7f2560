/// What a shard does next. The shard actor owns one, tells it what happened and asks what to do;
/// it keeps no clock and does no I/O. It decides which rows to read (`reservation.hpp`), which of
/// them form the next group (`fair_queue.hpp`), when to claim them (`gate.hpp`) and whether at all
/// (`provider_hold.hpp`, `daily_grant.hpp`, bound of calls in flight).
///
/// One round: `plan_reserve` -> read, prepare -> `on_reserved` -> `plan_group` -> claim ->
/// `on_claimed` -> `take_group` of the gate for the survivors, with the freshly read route -> send
/// -> `on_outcome` -> record -> `on_recorded`.
///
/// One per shard ownership: a new epoch starts with a new policy (groups count from 1 again).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "actors/dispatch/daily_grant.hpp"
#include "actors/dispatch/fair_queue.hpp"
#include "actors/dispatch/gate.hpp"
#include "actors/dispatch/provider_hold.hpp"
#include "actors/dispatch/reservation.hpp"

namespace paceline {

struct policy_settings {
  std::int32_t max_group = 100;
  /// Claim when the next free slot is this near: covers the claim's round trip and the start.
  nanoseconds claim_lead = std::chrono::milliseconds{75};
  /// A group takes the slots of so much time: what a crash leaves in doubt.
  nanoseconds group_window = std::chrono::milliseconds{250};
  /// The same while streams of several priorities share the route, and for `mixed_memory` after:
  /// what is claimed can't be overtaken, so that this is what an urgent message waits for.
  nanoseconds mixed_window = std::chrono::milliseconds{150};
  nanoseconds mixed_memory = std::chrono::seconds{10};
  std::int32_t reserve_batch = 24;   ///< rows read ahead at least
  std::int32_t reserve_cap = 5'000;  ///< rows held at most
  std::int32_t in_flight_floor = 64; ///< calls claimed and unanswered, where the rate asks for less
  std::int32_t in_flight_cap = 5'000; ///< the same at most
  /// More than 1: the provider takes so many messages in one request, and slots are its requests'.
  std::int32_t batch = 1;
};

/// Why nothing is claimed now.
enum class pause_cause {
  slot_far,      ///< the next slot is further away than the claim lead
  claim_running, ///< one claim at a time
  in_flight,     ///< bound of calls in flight reached
  provider_down, ///< the provider fails
  daily_grant,   ///< nothing left of the daily grant: ask for more
  no_target,     ///< no grid yet, or a target of zero
  stream_caps,   ///< all streams with rows are at their own rate caps
};

/// Ask again at `until`, or earlier when anything happens; without `until` only an event helps.
struct group_wait {
  pause_cause cause = pause_cause::slot_far;
  std::optional<database_instant> until;
};
/// Nothing is in memory: read (`plan_reserve`), or sleep until woken if that is empty too.
struct group_needs_rows {};
/// Claim these. Rows are in slot order.
struct group_claim {
  std::int32_t group_no = 0; ///< rises from 1 within an epoch; the same one when repeated
  std::vector<reserved_row> rows;
  std::int64_t total_cost = 0; ///< slots
  /// Draw slots at or after max(now, not_before): a stream's cap, or the turn of a message to
  /// several recipients, may ask for a later slot.
  database_instant not_before{};
  bool is_repeat = false;
};
using group_decision = std::variant<group_wait, group_needs_rows, group_claim>;

class shard_policy {
public:
  explicit shard_policy(shard_position position, policy_settings settings = {});

  // Streams -------------------------------------------------------------------------------------

  /// Adds a running stream (awake) or changes its figures.
  void put_stream(const stream_info& info, database_instant now);
  /// Paused, finished or gone. Returns the reserved rows dropped; claimed ones go on.
  std::vector<attempt> remove_stream(stream_id id);
  /// New due rows in `id` now, or (a retry) from `at` on. Unknown streams are ignored.
  void wake(stream_id id, database_instant at, database_instant now);
  /// When a planned wake comes due: set an alarm to ask `plan_reserve` again.
  std::optional<database_instant> next_wake() const { return reservation_.next_wake(); }

  // Reading ahead -------------------------------------------------------------------------------

  /// What to read now, one outstanding set at a time; `target` is the route's. Answer each plan by
  /// `on_reserved`, or all by `on_reserve_failed`.
  std::vector<reserve_plan> plan_reserve(database_instant now, rate target);
  /// The rows of one plan, prepared and ready to be claimed. A full page (`rows` as many as the
  /// plan's limit) means that there may be more: rows which failed in prepare are still to be
  /// passed and then dropped by `on_recorded`. Returns rows dropped from memory to make room.
  std::vector<attempt> on_reserved(const reserve_plan& asked,
                                   const std::vector<reserved_row>& rows);
  void on_reserve_failed() { reservation_.on_failed(); }

  // Claiming ------------------------------------------------------------------------------------

  /// What to do about the next group. A returned `group_claim` counts as sent.
  group_decision plan_group(database_instant now, const route_pace& pace, const gate_state& gate);
  /// The claim's answer. `claimed`: the ids that may start; the group's other rows are forgotten.
  /// Rows claimed but not to be started (stream stopped) are reported by `on_outcome` instead, so
  /// list them here too. An answer to another group than the one running changes nothing.
  void on_claimed(std::int32_t group_no, const std::vector<message_id>& claimed);
  /// The claim's fate is unknown or it failed retryably: `plan_group` repeats it unchanged.
  void on_claim_in_doubt(std::int32_t group_no);

  // Outcomes ------------------------------------------------------------------------------------

  /// The attempt ended, for whatever reason.
  void on_outcome(const outcome& what, database_instant now);
  /// The outcome is stored, or the row turned out useless before its claim: it may be read again.
  void on_recorded(message_id id);

  // The rest ------------------------------------------------------------------------------------

  daily_grant& grant() { return grant_; }
  const daily_grant& grant() const { return grant_; }
  const provider_hold& hold() const { return hold_; }

  std::size_t reserved() const { return reservation_.size(); }
  /// Claimed attempts without an outcome.
  std::size_t in_flight() const { return in_flight_.size(); }
  bool is_claiming() const { return claim_.has_value(); }
  /// The next `plan_group` repeats a claim.
  bool is_claim_in_doubt() const { return claim_ && claim_in_doubt_; }
  /// Nothing reserved, claimed, in flight or being read.
  bool is_quiet() const;
  shard_position position() const { return position_; }

private:
  std::optional<group_wait> reason_to_wait(database_instant now, const route_pace& pace) const;
  /// `from`: slots are drawn from here on; `first`: where that puts the first message.
  group_claim fill_group(database_instant now, database_instant from, database_instant first,
                         const route_pace& pace, const gate_state& gate);
  std::pair<std::optional<stream_id>, draw> foresee_next(const gate_state& gate,
                                                         const route_pace& pace,
                                                         database_instant from) const;
  /// Slots that a message takes if it is the first of its request.
  std::int32_t slot_cost(const reserved_row& row) const {
    return settings_.batch > 1 ? 1 : row.cost;
  }
  bool fits_request(const group_claim& group, const reserved_row& next) const;
  rate message_share(rate target) const;
  std::int64_t room_in_flight(rate target) const;
  void refresh_head(stream_id id);
  nanoseconds window(database_instant now) const;

  shard_position position_;
  policy_settings settings_;
  fair_queue queue_;
  reservation reservation_;
  provider_hold hold_;
  daily_grant grant_;
  std::optional<group_claim> claim_; ///< asked for and not answered
  bool claim_in_doubt_ = false;
  std::int32_t last_group_ = 0;
  database_instant mixed_until_ = database_instant::min();
  std::int32_t held_limit_ = 0;                            ///< of the last plan_reserve
  std::unordered_map<message_id, std::int32_t> in_flight_; ///< cost
};

/// Calls a shard may have claimed and unanswered: one second of `share`, at least `floor`, at most
/// `cap`.
std::int32_t in_flight_limit(rate share, std::int32_t floor, std::int32_t cap);

} // namespace paceline
