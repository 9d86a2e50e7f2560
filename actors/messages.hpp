/// Every message between actors, in the order of the flow, with its sender and receiver.
///
/// They never leave the process: payloads are values or shared constants. Answers of database
/// threads carry `result<T>`; they reach an actor through its weak address and vanish if it is
/// gone.
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

/// The value a database thread computed, shared because messages are copied.
template <class T>
using shared_result = std::shared_ptr<const result<T>>;

/// An actor's timer to itself. Timers can't be taken back: only the number last set counts.
struct tick {
  std::int64_t number = 0;
};

/// supervisor -> itself: time for a sweep.
struct sweep_due {};
/// main -> supervisor, once, before anything else: the cluster was spawned after it.
struct meet_cluster {
  caf::actor cluster;
};

// Wake-ups
// -----------------------------------------------------------------------------------------

/// Something may be due on the route (empty: on any). listener, campaigns -> supervisor, campaigns
struct wake_route {
  std::string route;
};

// Ownership
// ----------------------------------------------------------------------------------------

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

// A run
// --------------------------------------------------------------------------------------------

/// supervisor -> shard: the alarm fires. Older numbers than the last are ignored.
struct fire_alarm {
  std::int64_t number = 0;
};
/// supervisor -> shard: these streams run on the route; some have due rows.
struct offer_streams {
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
};
/// recorder -> shard: these are stored; the rows may be read again.
struct forget_messages {
  std::vector<message_id> messages;
};
/// recorder -> campaigns: these streams changed; some may be finished.
struct check_finished {
  std::vector<touched_stream> streams;
};
/// shard -> quota: the provider refused for the rate, the day or the account.
struct heed_refusal {
  refusal what = refusal::none;
  std::string text;
  nanoseconds retry_after{0};
};
/// quota -> supervisor -> shards: a call that sends nothing works again after it had failed.
struct note_provider_alive {
  route_id route;
};

// Children
// -----------------------------------------------------------------------------------------

/// supervisor -> recorder: outcomes of the shard go to this actor, too.
struct know_shard {
  shard_id shard;
  caf::actor_addr actor;
};
/// supervisor -> recorder
struct forget_shard {
  shard_id shard;
};

// Shutdown
// -----------------------------------------------------------------------------------------

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

// Answers of database threads ------------------------------------------------------------------

struct rows_reserved {
  shared_result<std::vector<reserve_page>> pages;
};
struct content_loaded {
  content_id id;
  shared_result<content> loaded;
};
struct group_claimed {
  std::int32_t group_no = 0;
  shared_result<claim_reply> reply;
};
struct grant_drawn {
  shared_result<std::int64_t> granted;
};
struct round_trips_measured {
  shared_result<round_trips> measured;
};
struct outcomes_stored {
  std::uint64_t batch = 0;
  shared_result<record_reply> reply;
};
struct interrupted_swept {
  shared_result<record_reply> reply;
};
struct streams_polled {
  shared_result<std::vector<due_stream>> streams;
};
/// A renewal with the boot instants around its round trip.
struct timed_renewal {
  renewal_reply reply;
  boot_instant sent{}, answered{};
};
struct shards_renewed {
  shared_result<timed_renewal> renewal;
};
/// The shards of one route as a contender sees them.
struct shards_listed {
  route_id route;
  shared_result<std::vector<shard_row>> shards;
};
struct shard_taken {
  shard_row seen;
  route_id route;
  boot_instant sent{};
  shared_result<acquired_shard> taken;
};
struct ownership_released {
  shared_result<done> released;
};
struct ownership_abandoned {
  shared_result<done> abandoned;
};
/// The provider's word on the account; nothing: no answer.
struct quota_answered {
  std::optional<quota_reading> quota;
};
struct quota_read {
  shared_result<std::optional<cached_quota>> cached;
};
struct refresh_begun {
  shared_result<bool> won;
};
/// The route after its target was set or it was braked.
struct route_changed {
  shared_result<route_reading> reading;
};
/// What one round over the open campaigns did.
struct campaign_round_report {
  std::int64_t open = 0;          ///< campaigns that are not over
  std::int64_t expanding = 0;     ///< of these, not yet expanded to the end
  std::int64_t finished = 0;      ///< in this round
  std::vector<std::string> woken; ///< routes that got due rows
};
struct campaigns_advanced {
  shared_result<campaign_round_report> report;
};

} // namespace paceline

#define PACELINE_LOCAL_MESSAGE(type) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(paceline::type)
PACELINE_LOCAL_MESSAGE(tick)
PACELINE_LOCAL_MESSAGE(sweep_due)
PACELINE_LOCAL_MESSAGE(meet_cluster)
PACELINE_LOCAL_MESSAGE(wake_route)
PACELINE_LOCAL_MESSAGE(start_shard)
PACELINE_LOCAL_MESSAGE(stop_shard)
PACELINE_LOCAL_MESSAGE(abandon_shard_ownership)
PACELINE_LOCAL_MESSAGE(use_reading)
PACELINE_LOCAL_MESSAGE(publish_in_flight)
PACELINE_LOCAL_MESSAGE(fire_alarm)
PACELINE_LOCAL_MESSAGE(offer_streams)
PACELINE_LOCAL_MESSAGE(end_run)
PACELINE_LOCAL_MESSAGE(bring_outcomes)
PACELINE_LOCAL_MESSAGE(take_outcomes)
PACELINE_LOCAL_MESSAGE(record_unsent)
PACELINE_LOCAL_MESSAGE(forget_messages)
PACELINE_LOCAL_MESSAGE(check_finished)
PACELINE_LOCAL_MESSAGE(heed_refusal)
PACELINE_LOCAL_MESSAGE(note_provider_alive)
PACELINE_LOCAL_MESSAGE(know_shard)
PACELINE_LOCAL_MESSAGE(forget_shard)
PACELINE_LOCAL_MESSAGE(drain_node)
PACELINE_LOCAL_MESSAGE(report_drained)
PACELINE_LOCAL_MESSAGE(await_recorded)
PACELINE_LOCAL_MESSAGE(report_recorded)
PACELINE_LOCAL_MESSAGE(release_ownership)
PACELINE_LOCAL_MESSAGE(report_released)
PACELINE_LOCAL_MESSAGE(rows_reserved)
PACELINE_LOCAL_MESSAGE(content_loaded)
PACELINE_LOCAL_MESSAGE(group_claimed)
PACELINE_LOCAL_MESSAGE(grant_drawn)
PACELINE_LOCAL_MESSAGE(round_trips_measured)
PACELINE_LOCAL_MESSAGE(outcomes_stored)
PACELINE_LOCAL_MESSAGE(interrupted_swept)
PACELINE_LOCAL_MESSAGE(streams_polled)
PACELINE_LOCAL_MESSAGE(shards_renewed)
PACELINE_LOCAL_MESSAGE(shards_listed)
PACELINE_LOCAL_MESSAGE(shard_taken)
PACELINE_LOCAL_MESSAGE(ownership_released)
PACELINE_LOCAL_MESSAGE(ownership_abandoned)
PACELINE_LOCAL_MESSAGE(quota_answered)
PACELINE_LOCAL_MESSAGE(quota_read)
PACELINE_LOCAL_MESSAGE(refresh_begun)
PACELINE_LOCAL_MESSAGE(route_changed)
PACELINE_LOCAL_MESSAGE(campaigns_advanced)
