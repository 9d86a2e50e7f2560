/// The courier: starts provider calls at their slots. One thread per node.
///
/// Shards hand it claimed messages with their slots; it keeps them in one heap by slot time, sleeps
/// in epoll until the next is due, and starts the call then, not earlier, and not later than the
/// slot's `latest`: a missed slot is lost and its message comes back `not_started` with
/// SLOT_MISSED. Right before the first request byte it checks the shard's ownership deadline, the
/// stream's stop mark and the route's grid; while the route's breaker is open, orders come back
/// not_started with PROVIDER_DOWN. It stamps the start time. Outcomes leave in batches
/// through `outcome_sink`, one batch per shard, every few milliseconds.
///
/// It does not know about actors or the database. Public functions are thread-safe and don't block;
/// the inbox is bounded by what the shards may have in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"
#include "storage/model/outcome.hpp"
#include "transport/breaker.hpp"
#include "transport/call_instruments.hpp"
#include "transport/providers/provider.hpp"

namespace paceline {

/// One claimed message and when it may go.
struct send_order {
  shard_id shard;
  epoch_id epoch;
  route_id route;
  stream_id stream;
  std::int64_t grid_number = 0; ///< of the slot; a braked grid is refused
  boot_instant at{};            ///< the slot
  boot_instant latest{};        ///< not started after this
  database_instant slot{};      ///< the slot on the database's clock, to stamp start times
  std::shared_ptr<const outgoing_message> message;
};

/// What comes back for an order.
struct delivery {
  send_order order;
  outcome result;
};

/// Where outcomes go: called on the courier's thread, must not block. In `actors/` it sends to
/// recorder and shard.
class outcome_sink {
public:
  virtual ~outcome_sink() = default;
  virtual void deliver(shard_id shard, std::vector<delivery> outcomes) = 0;
};

struct courier_gauges {
  std::size_t waiting = 0;   ///< orders whose slot has not come
  std::size_t in_flight = 0; ///< calls without an answer
  std::uint64_t started = 0, missed = 0;
  nanoseconds worst_lateness{0}; ///< since the last reading
};

struct courier_options {
  /// After the start; then `unknown` with PROVIDER_TIMEOUT, or, if no byte was written by then,
  /// `not_started` with PROVIDER_UNREACHABLE. A telling answer that comes later still is delivered
  /// as a second outcome of the same order.
  nanoseconds call_timeout = std::chrono::seconds{30};
  nanoseconds outcome_delay = std::chrono::milliseconds{5};
  breaker_settings breaker = {}; ///< of each route
  std::uint64_t seed = 1;        ///< of the waits between probes
};

class courier {
public:
  /// Makes a provider on the courier's thread. `reactor` outlives the provider.
  using provider_factory = std::function<std::unique_ptr<provider>(reactor&)>;

  /// `sink` and `clock` must outlive the courier. The thread starts at once.
  courier(courier_options options, outcome_sink& sink, const boot_time& clock);
  ~courier(); ///< as stop()
  courier(const courier&) = delete;
  courier& operator=(const courier&) = delete;

  /// Before the route's first order. Waits until the courier's thread has made the provider;
  /// throws what the factory threw. The only call here that blocks.
  void add_route(route_id, provider_factory, call_instruments measured = {});

  /// Orders of one claim. Those that can't be accepted any more (stopped) come back not_started;
  /// after `stop` has returned, on the caller's thread.
  void submit(std::vector<send_order> orders);

  /// The owner's deadline: nothing of this epoch starts at or after it. Zero = ownership is over,
  /// for good: waiting orders come back. News of an older epoch than the known one are ignored.
  /// Orders of a shard that has no deadline yet are refused.
  void set_deadline(shard_id, epoch_id, boot_instant deadline);

  /// Nothing of the route's grids up to `grid_number` starts any more; waiting orders of those come
  /// back not_started with ROUTE_BRAKED at once.
  void refuse_grids(route_id, std::int64_t grid_number);

  /// Waiting orders of the stream come back not_started with STREAM_STOPPED; later ones too until
  /// `allow_stream`.
  void stop_stream(stream_id);
  void allow_stream(stream_id);

  /// Waiting orders of the shard come back not_started with `reason`.
  void purge(shard_id, reason_code reason);

  /// Asks the route's provider for its quota; `answered` is called on the courier's thread
  /// (an error: why there is no answer). A question that is open when the courier stops is dropped.
  void ask_quota(route_id, provider::quota_function answered);

  /// Returns all waiting orders, lets calls in flight finish for up to `patience`, delivers
  /// everything, joins the thread. What has no answer by then is delivered as unknown. Idempotent.
  void stop(nanoseconds patience);

  courier_gauges gauges() const;

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
