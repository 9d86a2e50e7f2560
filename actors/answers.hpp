/// What database threads and the courier answer to actors.
///
/// Answers carry `result<T>`, shared because messages are copied; they reach an actor through its
/// weak address and vanish if it is gone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/messages.hpp"

namespace paceline {

/// The value a database thread computed.
template <class T>
using shared_result = std::shared_ptr<const result<T>>;

/// Due rows and the contents that the shard did not have.
struct reserved_rows {
  std::vector<reserve_page> pages;
  std::unordered_map<content_id, result<loaded_content>> contents;
};
struct rows_reserved {
  shared_result<reserved_rows> read;
};
struct group_claimed {
  std::int32_t group_no = 0;
  shared_result<claim_reply> reply;
};
struct grant_drawn {
  shared_result<std::int64_t> granted;
};
struct round_trips_measured {
  start_shard of;
  shared_result<round_trips> measured;
};
struct outcomes_stored {
  std::uint64_t batch = 0;
  shared_result<record_reply> reply;
};
/// How many rows one page of clean-up has deleted.
struct old_rows_forgotten {
  shared_result<std::int64_t> rows;
};
struct interrupted_swept {
  shared_result<record_reply> reply;
};
struct streams_polled {
  shared_result<std::vector<due_stream>> streams;
};
/// A look at the database's clock with the boot instants around it.
struct clock_look {
  boot_instant sent{};
  database_instant seen{};
  boot_instant answered{};
};
struct timed_renewal {
  std::vector<held_shard> asked; ///< what the renewal was for
  renewal_reply reply;
  boot_instant sent{}; ///< before the renewal was sent: deadlines count from here
  clock_look clock;    ///< the best of a few
};
struct shards_renewed {
  shared_result<timed_renewal> renewal;
};
/// The routes as they are now, between two renewals.
struct routes_read {
  shared_result<std::vector<route_reading>> readings;
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
  std::string problem = {}; ///< why there is no answer
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
  bool braked = false; ///< the answer to a brake
};
/// What the route's row says now of how the provider fails.
struct trouble_noted {
  shared_result<std::string> text;
};
/// The stream whose message the provider refused for what all of them share.
struct stream_paused {
  stream_id stream;
  std::string text;
  shared_result<stream_kind> kind;
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

PACELINE_LOCAL_MESSAGE(rows_reserved)
PACELINE_LOCAL_MESSAGE(group_claimed)
PACELINE_LOCAL_MESSAGE(grant_drawn)
PACELINE_LOCAL_MESSAGE(round_trips_measured)
PACELINE_LOCAL_MESSAGE(outcomes_stored)
PACELINE_LOCAL_MESSAGE(old_rows_forgotten)
PACELINE_LOCAL_MESSAGE(interrupted_swept)
PACELINE_LOCAL_MESSAGE(streams_polled)
PACELINE_LOCAL_MESSAGE(shards_renewed)
PACELINE_LOCAL_MESSAGE(routes_read)
PACELINE_LOCAL_MESSAGE(shards_listed)
PACELINE_LOCAL_MESSAGE(shard_taken)
PACELINE_LOCAL_MESSAGE(ownership_released)
PACELINE_LOCAL_MESSAGE(ownership_abandoned)
PACELINE_LOCAL_MESSAGE(quota_answered)
PACELINE_LOCAL_MESSAGE(quota_read)
PACELINE_LOCAL_MESSAGE(refresh_begun)
PACELINE_LOCAL_MESSAGE(route_changed)
PACELINE_LOCAL_MESSAGE(trouble_noted)
PACELINE_LOCAL_MESSAGE(stream_paused)
PACELINE_LOCAL_MESSAGE(campaigns_advanced)
