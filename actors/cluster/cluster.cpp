#include "actors/cluster/cluster.hpp"

#include <algorithm>
#include <utility>

#include "actors/database_post.hpp"

namespace paceline {
namespace {

constexpr nanoseconds unsure_renew = std::chrono::milliseconds{100};
// A round trip bounds the clock's error by half its length; on a busy machine one in a few is
// short.
constexpr nanoseconds short_look = std::chrono::milliseconds{1};
constexpr int most_looks = 8;
// Each accepted message may wake its route: so often at most the routes are read for it.
constexpr nanoseconds read_routes_every = std::chrono::milliseconds{200};
// Numbers of ticks.
constexpr std::int64_t renew_tick = 0;
constexpr std::int64_t read_routes_tick = 1;

/// The shortest of up to `most_looks` round trips, as soon as one is short. Blocking.
result<clock_look> look_at_clock(session& db, const boot_time& time) {
  clock_look best;
  for (int i = 0; i < most_looks; ++i) {
    clock_look look;
    look.sent = time.now();
    auto seen = read_clock(db);
    look.answered = time.now();
    if (!seen)
      return seen.failure();
    look.seen = *seen;
    if (i == 0 || look.answered - look.sent < best.answered - best.sent)
      best = look;
    if (best.answered - best.sent <= short_look)
      break;
  }
  return best;
}

} // namespace

cluster_actor::cluster_actor(caf::actor_config& config, cluster_options options,
                             database_pool& pool, order_desk& desk, const boot_time& time,
                             logger& log, caf::actor_addr supervisor)
    : caf::event_based_actor(config), options_(std::move(options)), pool_(pool), desk_(desk),
      time_(time), log_(log), supervisor_(std::move(supervisor)) {}

caf::behavior cluster_actor::make_behavior() {
  renew();
  return {
      [this](const tick& due) { due.number == renew_tick ? renew() : read_routes_now(); },
      [this](const wake_route&) { on_wake(); },
      [this](const routes_read& answer) { on_routes(answer); },
      [this](const shards_renewed& answer) { on_renewed(answer); },
      [this](const shards_listed& answer) { on_listed(answer); },
      [this](const shard_taken& answer) { on_taken(answer); },
      [this](const publish_in_flight& count) {
        if (auto held = holdings_.find(count.shard); held != holdings_.end())
          held->second.in_flight = count.in_flight;
      },
      [this](const abandon_shard_ownership& order) { abandon(order); },
      [this](const ownership_abandoned& answer) {
        if (!*answer.abandoned) // it then runs out like any other
          log_.warn("an ownership could not be given up",
                    {{"error", answer.abandoned->failure().text}});
      },
      [this](const release_ownership&) { release(); },
      [this](const ownership_released& answer) {
        if (!*answer.released) // the leases run out, which only takes longer
          log_.warn("ownership could not be released",
                    {{"error", answer.released->failure().text}});
        tell(supervisor_, report_released{});
      },
  };
}

void cluster_actor::renew() {
  auto work = [node = options_.node, shards = held(), routes = options_.routes,
               time = &time_](session& db) -> result<timed_renewal> {
    timed_renewal timed;
    auto look = look_at_clock(db, *time);
    if (!look)
      return look.failure();
    timed.clock = *look;
    timed.sent = time->now();
    auto reply = renew_shards(db, node, shards, routes);
    if (!reply)
      return reply.failure();
    timed.asked = shards;
    timed.reply = std::move(*reply);
    return timed;
  };
  post(pool_, address(), std::move(work),
       [](shared_result<timed_renewal> value) { return shards_renewed{std::move(value)}; });
}

void cluster_actor::on_renewed(const shards_renewed& answer) {
  if (releasing_)
    return;
  const auto& renewal = *answer.renewal;
  if (!renewal) {
    // Deadlines pass by themselves; a later renewal extends them if nobody took over meanwhile.
    log_.warn("ownership could not be renewed", {{"error", renewal.failure().text}});
  } else {
    publish(*renewal);
    heed_stop(renewal->reply);
    look_for_shards();
  }
  // Nothing starts before the database's clock is known well enough: a slow first round trip is
  // followed by better ones at once.
  auto good = clock_.is_good(time_.now());
  delayed_send(this, good ? options_.renew : std::min(options_.renew, unsure_renew),
               tick{renew_tick});
}

void cluster_actor::heed_stop(const renewal_reply& reply) {
  if (!reply.stop_requested || stop_told_)
    return;
  stop_told_ = true;
  log_.info("an operator has asked this node to stop");
  options_.stop_requested();
}

// Readings between renewals ---------------------------------------------------

void cluster_actor::on_wake() {
  if (reading_routes_) {
    read_again_ = true;
    return;
  }
  reading_routes_ = true;
  auto wait = std::max(routes_read_at_ + read_routes_every - time_.now(), nanoseconds{0});
  delayed_send(this, wait, tick{read_routes_tick});
}

void cluster_actor::read_routes_now() {
  read_again_ = false;
  routes_read_at_ = time_.now();
  post(
      pool_, address(), [routes = options_.routes](session& db) { return read_routes(db, routes); },
      [](shared_result<std::vector<route_reading>> value) {
        return routes_read{std::move(value)};
      });
}

void cluster_actor::on_routes(const routes_read& answer) {
  reading_routes_ = false;
  if (releasing_)
    return;
  // What failed comes with the next renewal. Without a good clock nothing is sent anyway.
  if (*answer.readings && clock_.is_good(time_.now()))
    for (const auto& reading : **answer.readings)
      tell(supervisor_, use_reading{reading, clock_});
  if (read_again_)
    on_wake();
}

// Renewals --------------------------------------------------------------------

void cluster_actor::publish(const timed_renewal& renewal) {
  auto step = clock_.on_round_trip(renewal.clock.sent, renewal.clock.seen, renewal.clock.answered);
  if (step)
    log_.warn("the database's clock was set",
              {{"by_ms", static_cast<double>(step->by.count()) / 1e6}});
  // Only what the renewal asked for is judged: a shard may have been taken since it was sent.
  const auto& renewed = renewal.reply.renewed;
  for (const auto& asked : renewal.asked) {
    auto held = holdings_.find(asked.shard);
    if (held == holdings_.end() || held->second.epoch != asked.epoch)
      continue;
    if (std::find(renewed.begin(), renewed.end(), asked.shard) != renewed.end()) {
      desk_.set_deadline(asked.shard, asked.epoch, deadline_from(renewal.sent));
      continue;
    }
    log_.warn("a shard was taken over by another node", {{"shard_row", asked.shard.value()}});
    desk_.set_deadline(asked.shard, asked.epoch, boot_instant{});
    tell(supervisor_, stop_shard{asked.shard, asked.epoch});
    holdings_.erase(held);
  }
  shards_in_all_ = 0;
  for (const auto& reading : renewal.reply.routes) {
    shards_in_all_ += reading.shard_count;
    tell(supervisor_, use_reading{reading, clock_, step ? step->by : nanoseconds{0}});
  }
}

void cluster_actor::look_for_shards() {
  if (std::ssize(holdings_) >= shards_in_all_)
    return;
  for (auto route : options_.routes)
    post(
        pool_, address(), [route](session& db) { return list_shards(db, route); },
        [route](shared_result<std::vector<shard_row>> value) {
          return shards_listed{route, std::move(value)};
        });
}

void cluster_actor::on_listed(const shards_listed& answer) {
  if (!*answer.shards || releasing_)
    return;
  for (const auto& row : **answer.shards)
    if (!holdings_.contains(row.shard) && !taking_.contains(row.shard) && is_free(row))
      take(row, answer.route);
}

bool cluster_actor::is_free(const shard_row& row) {
  if (row.owner == node_id{})
    return true;
  auto now = time_.now();
  auto& seen = sightings_[row.shard];
  if (seen.epoch != row.epoch || seen.renewal != row.renewal || seen.since == boot_instant{})
    seen = {row.epoch, row.renewal, now};
  return now - seen.since >= options_.lease + options_.margin;
}

void cluster_actor::take(const shard_row& row, route_id route) {
  auto sent = time_.now();
  taking_.insert(row.shard);
  post(
      pool_, address(),
      [node = options_.node, row](session& db) { return acquire_shard(db, node, row); },
      [row, route, sent](shared_result<acquired_shard> value) {
        return shard_taken{row, route, sent, std::move(value)};
      });
}

void cluster_actor::on_taken(const shard_taken& answer) {
  sightings_.erase(answer.seen.shard);
  taking_.erase(answer.seen.shard);
  const auto& taken = *answer.taken;
  if (!taken)
    return; // somebody else was first, or the database is away: the next look tells
  if (releasing_) {
    post(
        pool_, address(),
        [node = options_.node, gone = held_shard{answer.seen.shard, taken->epoch, 0}](session& db) {
          return release_shards(db, node, {gone});
        },
        [](shared_result<paceline::done> value) { return ownership_abandoned{std::move(value)}; });
    return;
  }
  holdings_[answer.seen.shard] = {taken->epoch, 0};
  desk_.set_deadline(answer.seen.shard, taken->epoch, deadline_from(answer.sent));
  tell(supervisor_, start_shard{answer.seen, answer.route, *taken});
}

void cluster_actor::abandon(const abandon_shard_ownership& order) {
  auto held = holdings_.find(order.shard);
  if (held == holdings_.end() || held->second.epoch != order.epoch)
    return;
  holdings_.erase(held);
  post(
      pool_, address(),
      [node = options_.node, gone = held_shard{order.shard, order.epoch, 0}](session& db) {
        return abandon_shard(db, node, gone);
      },
      [](shared_result<paceline::done> value) { return ownership_abandoned{std::move(value)}; });
}

void cluster_actor::release() {
  releasing_ = true;
  post(
      pool_, address(),
      [node = options_.node, shards = held()](session& db) -> result<paceline::done> {
        if (auto released = release_shards(db, node, shards); !released)
          return released;
        return retire_node(db, node);
      },
      [](shared_result<paceline::done> value) { return ownership_released{std::move(value)}; });
}

std::vector<held_shard> cluster_actor::held() const {
  std::vector<held_shard> shards;
  for (const auto& [shard, holding] : holdings_)
    shards.push_back({shard, holding.epoch, holding.in_flight});
  return shards;
}

} // namespace paceline
