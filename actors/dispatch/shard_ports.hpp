/// What a shard asks of the world, as ports: the database and the courier. Calls return at once;
/// the database's answers come as messages (`actors/messages.hpp`). Virtual-time tests put fakes
/// here that share a conformance suite with the real ones.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <caf/all.hpp>

#include "actors/messages.hpp"
#include "storage/claims.hpp"
#include "storage/contents.hpp"
#include "storage/ownership.hpp"
#include "transport/courier.hpp"

namespace paceline {

/// One shard's way to the database. Thread-safe; outlives the shard's actor.
class shard_store {
public:
  virtual ~shard_store() = default;
  /// -> rows_reserved, with the contents of the rows that are not among `known`.
  virtual void reserve(const caf::actor_addr& reply_to, reserve_request,
                       std::vector<content_id> known) = 0;
  /// -> group_claimed. What the claim did not get is settled by the same task, after the answer.
  virtual void claim(const caf::actor_addr& reply_to, claim_request) = 0;
  /// Permanent preflight failures. No answer: what could not be stored is read and fails again.
  virtual void reject(std::vector<preflight_failure>) = 0;
  /// Passing preflight failures: due again after `wait`, or the configured time. No answer, as
  /// above.
  virtual void postpone(std::vector<attempt>, std::optional<nanoseconds> wait) = 0;
  /// -> grant_drawn
  virtual void draw_grant(const caf::actor_addr& reply_to, std::int64_t wanted) = 0;
  /// -> round_trips_measured, to the supervisor
  virtual void measure(const caf::actor_addr& reply_to, const start_shard& of) = 0;
  /// Statements this shard has sent so far, for DISPATCH_RUN.
  virtual std::uint64_t statements() const = 0;
  /// True while stored outcomes lag so far behind that nothing more may be claimed.
  virtual bool is_recording_behind() const = 0;
};

/// The courier as actors see it (`courier_desk.hpp` is the real one). Thread-safe.
class order_desk {
public:
  virtual ~order_desk() = default;
  virtual void submit(std::vector<send_order> orders) = 0;
  virtual void purge(shard_id, reason_code reason) = 0;
  virtual void set_deadline(shard_id, epoch_id, boot_instant deadline) = 0;
  virtual void refuse_grids(route_id, std::int64_t grid_number) = 0;
  /// -> quota_answered
  virtual void ask_quota(const caf::actor_addr& reply_to, route_id) = 0;
};

} // namespace paceline
