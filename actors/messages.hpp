/// Every message between actors, in the order of the flow, with its sender and receiver.
///
/// They never leave the process: payloads are values or shared constants. What database threads and
/// the courier answer stands in `answers.hpp`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include "actors/cluster/clock_estimate.hpp"
#include "storage/campaigns.hpp"
#include "storage/claims.hpp"
#include "storage/contents.hpp"
#include "storage/ownership.hpp"
#include "storage/quota.hpp"
#include "storage/records.hpp"
#include "storage/streams.hpp"
#include "transport/courier.hpp"

namespace paceline {

/// An actor's timer to itself. Timers can't be taken back: only the number last set counts.
struct tick {
  std::int64_t number = 0;
};

/// main -> quota: the configuration was read again and says this of the route.
struct change_rate {
  double factor = 1.0;
  rate absolute; ///< zero: follow the quota
};

/// main -> supervisor, once, before anything else: the cluster was spawned after it.
struct meet_cluster {
  caf::actor cluster;
};

// Wake-ups --------------------------------------------------------------------

/// Something may be due on the route (empty: on any), or an operator has changed it.
/// API -> waker; listener, waker, campaigns -> supervisor, campaigns, cluster
struct wake_route {
  std::string route;
};

// Ownership -------------------------------------------------------------------

/// cluster -> supervisor: this node runs the shard from now on.
struct start_shard {
  shard_row shard;
  route_id route;
  acquired_shard ownership;
};
/// cluster -> supervisor: somebody else runs it, or nobody.
struct stop_shard {
  shard_id shard;
  epoch_id epoch;
};
/// supervisor -> cluster: the actor died; give its epoch up and take the shard again.
struct abandon_shard_ownership {
  shard_id shard;
  epoch_id epoch;
};
/// cluster, quota -> supervisor -> shards, quota, campaigns: a fresh reading of a route.
struct use_reading {
  route_reading reading;
  clock_estimate clock;
  nanoseconds clock_step{0}; ///< the database's clock was set by so much since the last reading
};
/// shard -> cluster: how many calls are out, for the next renewal.
struct publish_in_flight {
  shard_id shard;
  std::int32_t in_flight = 0;
};

// A run -----------------------------------------------------------------------

/// supervisor -> shard: these streams run on the route and have rows, due or soon due. A shard that
/// rests begins a run under this number; older numbers than its last are ignored.
struct fire_alarm {
  std::int64_t number = 0;
  std::shared_ptr<const std::vector<due_stream>> streams;
};
/// shard -> supervisor: the run is over and the gate persisted. `idle`: nothing was left to do.
struct end_run {
  shard_id shard;
  std::int64_t number = 0;
  bool idle = false;
};
/// courier -> recorder: what became of one shard's calls.
struct bring_outcomes {
  shard_id shard;
  std::shared_ptr<const std::vector<delivery>> deliveries;
};
/// recorder -> shard: what became of its calls. Missed slots come here alone, to be drawn again.
struct take_outcomes {
  std::shared_ptr<const std::vector<delivery>> deliveries;
};
/// shard -> recorder: attempts that ended without a call (or could not be drawn again).
struct record_unsent {
  shard_id shard;
  std::vector<outcome> outcomes;
  route_id route = {};
};
/// recorder -> shard: these are stored; the rows may be read again.
struct forget_messages {
  std::vector<attempt> attempts;
};
/// recorder, sweeper -> campaigns: these streams changed; some may be finished.
struct check_finished {
  std::vector<touched_stream> streams;
};
/// shard -> quota: the provider refused for the rate, the day, the account or the stream.
struct heed_refusal {
  refusal what = refusal::none;
  std::string text;
  nanoseconds retry_after{0};
  stream_id stream = {}; ///< whose message was refused
};
/// shard -> quota: the provider fails, and how; or, with an empty text, it works again.
struct heed_trouble {
  std::string text;
};

// Children --------------------------------------------------------------------

/// supervisor -> recorder: outcomes of the shard go to this actor, too.
struct know_shard {
  shard_id shard;
  caf::actor_addr actor;
};
/// supervisor -> recorder
struct forget_shard {
  shard_id shard;
};

// Shutdown --------------------------------------------------------------------

/// main -> supervisor -> shards: claim nothing more; bring everything home.
struct drain_node {};
/// shard -> supervisor
struct report_drained {
  shard_id shard;
};
/// supervisor -> recorder: answer `report_recorded` when nothing waits any more.
struct await_recorded {};
/// recorder -> supervisor
struct report_recorded {};
/// supervisor -> cluster: give all shards back.
struct release_ownership {};
/// cluster -> supervisor
struct report_released {};

} // namespace paceline

#define PACELINE_LOCAL_MESSAGE(type) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(paceline::type)
PACELINE_LOCAL_MESSAGE(tick)
PACELINE_LOCAL_MESSAGE(change_rate)
PACELINE_LOCAL_MESSAGE(meet_cluster)
PACELINE_LOCAL_MESSAGE(wake_route)
PACELINE_LOCAL_MESSAGE(start_shard)
PACELINE_LOCAL_MESSAGE(stop_shard)
PACELINE_LOCAL_MESSAGE(abandon_shard_ownership)
PACELINE_LOCAL_MESSAGE(use_reading)
PACELINE_LOCAL_MESSAGE(publish_in_flight)
PACELINE_LOCAL_MESSAGE(fire_alarm)
PACELINE_LOCAL_MESSAGE(end_run)
PACELINE_LOCAL_MESSAGE(bring_outcomes)
PACELINE_LOCAL_MESSAGE(take_outcomes)
PACELINE_LOCAL_MESSAGE(record_unsent)
PACELINE_LOCAL_MESSAGE(forget_messages)
PACELINE_LOCAL_MESSAGE(check_finished)
PACELINE_LOCAL_MESSAGE(heed_refusal)
PACELINE_LOCAL_MESSAGE(heed_trouble)
PACELINE_LOCAL_MESSAGE(know_shard)
PACELINE_LOCAL_MESSAGE(forget_shard)
PACELINE_LOCAL_MESSAGE(drain_node)
PACELINE_LOCAL_MESSAGE(report_drained)
PACELINE_LOCAL_MESSAGE(await_recorded)
PACELINE_LOCAL_MESSAGE(report_recorded)
PACELINE_LOCAL_MESSAGE(release_ownership)
PACELINE_LOCAL_MESSAGE(report_released)
