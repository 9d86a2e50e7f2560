/// The courier's real core in virtual time behind the actors' port, with a provider that does what
/// the test says. Outcomes reach the recorder as from the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/dispatch/shard_ports.hpp"
#include "test/support/virtual_time.hpp"
#include "transport/courier_core.hpp"

namespace paceline::test {

/// One accepted start, as a provider's ledger has it.
struct started_call {
  attempt of;
  database_instant at{};
  outcome_kind answered = outcome_kind::accepted;
};

class virtual_desk final : public order_desk, private outcome_sink, private reactor {
public:
  explicit virtual_desk(virtual_time& time);
  ~virtual_desk() override;

  void use(caf::actor_addr recorder) { recorder_ = std::move(recorder); }
  void add_route(route_id route, call_instruments measured = {});

  // order_desk
  void submit(std::vector<send_order> orders) override;
  void purge(shard_id shard, reason_code reason) override;
  void set_deadline(shard_id shard, epoch_id epoch, boot_instant deadline) override;
  void refuse_grids(route_id route, std::int64_t grid_number) override;
  void ask_quota(const caf::actor_addr& reply_to, route_id route) override;

  /// The courier's thread stands still for so long: slots pass unused.
  void stall(nanoseconds length);

  nanoseconds latency = std::chrono::milliseconds{170};
  /// The provider's answer to a call; by default it accepts.
  std::function<provider_answer(const call&)> answer;
  bool lives = false;               ///< what the provider says when asked for its health
  std::vector<started_call> ledger; ///< every call that started, in order
  std::int64_t quota_questions = 0;
  std::int64_t refused_up_to = 0; ///< grids of the last refuse_grids
  std::vector<std::pair<shard_id, reason_code>> purges;
  struct deadline_set {
    shard_id shard;
    epoch_id epoch;
    boot_instant deadline{};
  };
  std::vector<deadline_set> deadlines;

private:
  class scripted_provider;

  void deliver(shard_id shard, std::vector<delivery> outcomes) override;
  boot_instant now() const override { return time_.now(); }
  void at(boot_instant when, std::function<void()> task) override;
  void watch(int, std::uint32_t, std::function<void(std::uint32_t)>) override {}
  void advance();

  virtual_time& time_;
  caf::actor_addr recorder_;
  courier_core core_;
  boot_instant stalled_until_{};
  std::optional<boot_instant> armed_; ///< the next wake on the timetable
  std::int64_t wake_number_ = 0;
};

} // namespace paceline::test
