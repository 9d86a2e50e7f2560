/// The real courier behind the actors' port, and the way of its outcomes back to them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <caf/all.hpp>

#include "actors/dispatch/shard_ports.hpp"
#include "transport/courier.hpp"

namespace paceline {

/// Forwards to a courier that outlives it.
class courier_desk final : public order_desk {
public:
  explicit courier_desk(courier& to) : to_(to) {}
  void submit(std::vector<send_order> orders) override { to_.submit(std::move(orders)); }
  void purge(shard_id shard, reason_code reason) override { to_.purge(shard, reason); }
  void set_deadline(shard_id shard, epoch_id epoch, boot_instant deadline) override {
    to_.set_deadline(shard, epoch, deadline);
  }
  void refuse_grids(route_id route, std::int64_t number) override {
    to_.refuse_grids(route, number);
  }
  void ask_quota(const caf::actor_addr& reply_to, route_id route) override;

private:
  courier& to_;
};

/// Sends outcomes to the recorder. Made before the actors are: outcomes that come earlier than
/// `use` don't exist, since nobody has ordered anything. Keeps a weak address.
class recorder_sink final : public outcome_sink {
public:
  /// Before the first order; not thread-safe.
  void use(caf::actor_addr recorder) { recorder_ = std::move(recorder); }
  void deliver(shard_id shard, std::vector<delivery> outcomes) override;

private:
  caf::actor_addr recorder_;
};

} // namespace paceline
