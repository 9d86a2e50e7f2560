/// What the courier decides, without its thread: which order starts when, what is refused, what is
/// reported. Driven by `advance` on the reactor's time, so that tests play it in virtual time.
///
/// Every order is reported exactly once, whatever happens; only a call reported as unknown because
/// its answer took too long is reported a second time if a telling answer comes after all.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "transport/active_call.hpp"
#include "transport/courier.hpp"
#include "transport/order_heap.hpp"
#include "transport/outcome_batches.hpp"
#include "transport/start_rules.hpp"

namespace paceline {

/// Not thread-safe; owned by the courier's thread. The sink must not call back into it.
class courier_core final : private write_permit {
public:
  /// `sink` and `clock` must outlive this.
  courier_core(courier_options options, outcome_sink& sink, reactor& clock);
  courier_core(const courier_core&) = delete;
  courier_core& operator=(const courier_core&) = delete;

  void add_route(route_id route, std::unique_ptr<provider> made, call_instruments measured = {});
  void submit(std::vector<send_order> orders);
  void set_deadline(shard_id shard, epoch_id epoch, boot_instant deadline);
  void refuse_grids(route_id route, std::int64_t grid_number);
  void stop_stream(stream_id stream);
  void allow_stream(stream_id stream) { rules_.allow_stream(stream); }
  void purge(shard_id shard, reason_code reason);
  void ask_quota(route_id route, provider::quota_function answered);

  /// Waiting orders and all later ones come back with NODE_STOPPING; calls in flight go on.
  void begin_stop();
  /// Reports the calls in flight without waiting longer, and everything gathered so far.
  void finish_stop();

  /// Gives up on calls without an answer, starts due orders (a bounded number, so that other work
  /// gets its turn), delivers gathered outcomes. Call it again at `next_event`, not before.
  void advance();
  /// When `advance` has something to do; nothing while nothing waits. May be in the past.
  std::optional<boot_instant> next_event() const;

  std::size_t in_flight() const { return calls_.size(); }
  /// Reading resets the worst lateness.
  courier_gauges take_gauges();

private:
  struct served {
    std::unique_ptr<provider> calls;
    call_instruments measured;
    breaker health;
    std::string last_failure;    ///< what the provider said when it last failed hard
    boot_instant health_asked{}; ///< when it was last asked whether it lives
    bool is_asking_health = false;
  };

  std::optional<reason_code> refusal(const send_order& order, boot_instant now) override;
  boot_instant now() const override { return clock_.now(); }
  void wrote(const active_call& what, nanoseconds lateness) override;

  void start(send_order order, boot_instant now);
  void open_call(served& with, send_order order, bool is_probe, boot_instant now);
  void hold_back(served& with, send_order order, boot_instant now);
  void ask_health(served& with, boot_instant now);
  void observe(const active_call& what, const outcome& result);
  void flush_providers();
  void close(const active_call& what);
  void answer(active_call& what, provider_answer answer);
  void give_up(const std::shared_ptr<active_call>& what, reason_code if_unwritten);
  void expire_calls(boot_instant now);
  void report(send_order order, outcome result);
  void return_unstarted(send_order order, reason_code reason);
  void return_all(std::vector<send_order> orders, reason_code reason);

  courier_options options_;
  reactor& clock_;
  start_rules rules_;
  order_heap waiting_;
  outcome_batches outcomes_;
  std::list<std::shared_ptr<active_call>> calls_; ///< open calls, by the time they began
  std::unordered_map<route_id, served> routes_;
  std::vector<served*> to_flush_; ///< whose calls were started in this pass
  std::mt19937_64 random_;
  bool stopping_ = false;
  courier_gauges gauges_;
};

} // namespace paceline
