#include "actors/supervisor.hpp"

#include <algorithm>
#include <utility>

#include "actors/database_post.hpp"

namespace paceline {
namespace {

double to_seconds(nanoseconds length) {
  return std::chrono::duration<double>(length).count();
}

} // namespace

supervisor_actor::supervisor_actor(caf::actor_config& config, supervisor_options options,
                                   supervisor_surroundings around, std::function<void()> drained)
    : caf::event_based_actor(config), options_(std::move(options)), around_(std::move(around)),
      drained_(std::move(drained)) {
  set_down_handler([this](caf::down_msg& down) { on_down(down); });
}

void supervisor_actor::on_exit() {
  // An alarm that is still to come would keep its shard, and so the actor system, alive.
  for (auto& [shard, child] : children_)
    caf::anon_send_exit(child.actor, caf::exit_reason::user_shutdown);
  children_.clear();
  cluster_ = nullptr;
  around_.recorder = nullptr;
  around_.campaigns = nullptr;
  options_.routes.clear();
}

caf::behavior supervisor_actor::make_behavior() {
  poll_in(options_.poll);
  return {
      [this](const meet_cluster& met) { cluster_ = met.cluster; },
      [this](const start_shard& order) { start(order); },
      [this](const stop_shard& order) { stop(order.shard, order.epoch); },
      [this](const use_reading& reading) { on_reading(reading); },
      [this](const wake_route&) { poll(); },
      [this](const tick& due) {
        if (due.number == poll_number_)
          poll();
      },
      [this](const streams_polled& answer) { on_polled(answer); },
      [this](const round_trips_measured& answer) { on_measured(answer); },
      [this](const end_run& ended) { on_run_ended(ended); },
      [this](const drain_node&) { drain(); },
      [this](const report_drained& report) {
        if (auto found = children_.find(report.shard); found != children_.end())
          found->second.drained = true;
        check_drained();
      },
      [this](const report_recorded&) { send(cluster_, release_ownership{}); },
      [this](const report_released&) { drained_(); },
  };
}

// Shards ----------------------------------------------------------------------

void supervisor_actor::start(const start_shard& order) {
  auto reading = readings_.find(order.route);
  auto route = find_route(order.route);
  // A child of an older epoch has been disowned without a word: its successor is here.
  if (auto old = children_.find(order.shard.shard); old != children_.end())
    stop(order.shard.shard, old->second.start.ownership.epoch);
  if (draining_ || !route || reading == readings_.end()) {
    send(cluster_, abandon_shard_ownership{order.shard.shard, order.ownership.epoch});
    return;
  }
  shard_options options;
  options.policy = route->policy;
  options.prepare = route->prepare;
  options.uploads = route->uploads;
  options.run = options_.run;
  shard_surroundings around{around_.stores.store_of(order.shard, order.route),
                            around_.desk,
                            around_.time,
                            around_.log,
                            address(),
                            around_.recorder.address(),
                            route->quota.address(),
                            cluster_.address(),
                            route->measured};
  auto actor = spawn<shard_actor, caf::monitored>(std::move(options), std::move(around), order,
                                                  reading->second);
  send(around_.recorder, know_shard{order.shard.shard, actor.address()});
  send(route->quota, reading->second);
  send(around_.campaigns, reading->second);
  around_.stores.store_of(order.shard, order.route).measure(address(), order);
  children_[order.shard.shard] = {actor, order};
  show_ownership(order.route);
  poll();
}

void supervisor_actor::on_measured(const round_trips_measured& answer) {
  auto trips = *answer.measured ? **answer.measured : round_trips{};
  around_.log.event(log_level::info, "SHARD_PLACED",
                    {{"shard", answer.of.shard.name.text()},
                     {"node", options_.node_name},
                     {"epoch", answer.of.ownership.epoch.value()},
                     {"database_small_ms", static_cast<double>(trips.small.count()) / 1e6},
                     {"database_large_ms", static_cast<double>(trips.large.count()) / 1e6}});
}

void supervisor_actor::stop(shard_id shard, epoch_id epoch) {
  auto found = children_.find(shard);
  if (found == children_.end() || found->second.start.ownership.epoch != epoch)
    return;
  around_.desk.purge(shard, reason_code::ownership_lost);
  send(around_.recorder, forget_shard{shard});
  demonitor(found->second.actor);
  send_exit(found->second.actor, caf::exit_reason::user_shutdown);
  auto route = found->second.start.route;
  children_.erase(found);
  show_ownership(route);
  check_drained();
}

void supervisor_actor::on_down(const caf::down_msg& down) {
  auto died = std::find_if(children_.begin(), children_.end(), [&down](const auto& entry) {
    return entry.second.actor.address() == down.source;
  });
  if (died == children_.end())
    return;
  auto [shard, gone] = *died;
  around_.log.error(
      "a shard died; it starts over with a fresh epoch",
      {{"shard", gone.start.shard.name.text()}, {"reason", caf::to_string(down.reason)}});
  // The epoch ends here: what waits comes home, what is on the wire is still recorded, and what
  // nobody answers for is swept to acceptance_unknown.
  around_.desk.set_deadline(shard, gone.start.ownership.epoch, boot_instant{});
  around_.desk.purge(shard, reason_code::ownership_lost);
  send(around_.recorder, forget_shard{shard});
  send(cluster_, abandon_shard_ownership{shard, gone.start.ownership.epoch});
  children_.erase(died);
  show_ownership(gone.start.route);
  check_drained();
}

void supervisor_actor::show_ownership(route_id id) const {
  if (auto route = find_route(id))
    route->measured.shards_owned.set(static_cast<double>(
        std::count_if(children_.begin(), children_.end(),
                      [id](const auto& entry) { return entry.second.start.route == id; })));
}

void supervisor_actor::on_reading(const use_reading& reading) {
  auto id = reading.reading.route;
  auto& last = readings_[id];
  if (reading.reading.read_at < last.reading.read_at && reading.clock_step == nanoseconds{0})
    return;
  last = reading;
  last.clock_step = nanoseconds{0};
  if (auto route = find_route(id))
    route->measured.show(reading.reading);
  if (reading.clock.is_known())
    options_.clock_error.set(to_seconds(reading.clock.error(around_.time.now())));
  auto owned = std::any_of(children_.begin(), children_.end(),
                           [id](const auto& entry) { return entry.second.start.route == id; });
  auto route = find_route(id);
  if (!owned || !route)
    return;
  to_shards_of(id, reading);
  send(route->quota, reading);
  send(around_.campaigns, reading);
}

void supervisor_actor::fire(child& which) {
  which.running = true;
  send(which.actor, fire_alarm{++which.alarm, nullptr});
}

void supervisor_actor::on_run_ended(const end_run& ended) {
  auto found = children_.find(ended.shard);
  if (found == children_.end() || found->second.alarm != ended.number)
    return;
  found->second.running = false;
  if (!ended.idle && !draining_)
    fire(found->second);
}

// Looking for work ------------------------------------------------------------

void supervisor_actor::poll() {
  if (polling_) {
    poll_again_ = true;
    return;
  }
  std::set<route_id> routes;
  for (const auto& [shard, child] : children_)
    routes.insert(child.start.route);
  if (routes.empty() || draining_)
    return poll_in(options_.poll);
  polling_ = true;
  post(
      around_.control, address(),
      [wanted = std::vector<route_id>(routes.begin(), routes.end())](session& db) {
        return due_streams(db, wanted);
      },
      [](shared_result<std::vector<due_stream>> value) {
        return streams_polled{std::move(value)};
      });
}

void supervisor_actor::on_polled(const streams_polled& answer) {
  polling_ = false;
  if (!*answer.streams) {
    around_.log.warn("looking for due messages failed; trying again",
                     {{"error", answer.streams->failure().text}});
    return poll_in(options_.poll);
  }
  std::map<route_id, std::vector<due_stream>> by_route;
  for (auto route : offered_)
    by_route[route]; // streams that are gone must be known as gone
  offered_.clear();
  auto next = options_.poll;
  for (const auto& stream : **answer.streams) {
    by_route[stream.route].push_back(stream);
    offered_.insert(stream.route);
    if (stream.due_in > nanoseconds{0})
      next = std::min(next, stream.due_in);
  }
  for (auto& [route, streams] : by_route)
    offer(route, std::make_shared<const std::vector<due_stream>>(std::move(streams)));
  if (poll_again_) {
    poll_again_ = false;
    return poll();
  }
  poll_in(std::max<nanoseconds>(next, std::chrono::milliseconds{10}));
}

/// Tells a route's shards what there is, and wakes those that rest if anything is due.
void supervisor_actor::offer(route_id route,
                             std::shared_ptr<const std::vector<due_stream>> streams) {
  auto due = std::any_of(streams->begin(), streams->end(),
                         [](const due_stream& s) { return s.due_in <= nanoseconds{0}; });
  for (auto& [shard, child] : children_) {
    if (child.start.route != route)
      continue;
    if (due && !child.running) {
      child.running = true;
      ++child.alarm;
    }
    send(child.actor, fire_alarm{child.alarm, streams});
  }
}

void supervisor_actor::poll_in(nanoseconds wait) {
  delayed_send(this, wait, tick{++poll_number_});
}

// Shutdown --------------------------------------------------------------------

void supervisor_actor::drain() {
  draining_ = true;
  for (auto& [shard, child] : children_)
    send(child.actor, drain_node{});
  check_drained();
}

void supervisor_actor::check_drained() {
  if (!draining_ || recorded_asked_)
    return;
  if (std::all_of(children_.begin(), children_.end(),
                  [](const auto& entry) { return entry.second.drained; })) {
    recorded_asked_ = true;
    send(around_.recorder, await_recorded{});
  }
}

const supervised_route* supervisor_actor::find_route(route_id id) const {
  for (const auto& route : options_.routes)
    if (route.id == id)
      return &route;
  return nullptr;
}

template <class Message>
void supervisor_actor::to_shards_of(route_id route, const Message& message) {
  for (auto& [shard, child] : children_)
    if (child.start.route == route)
      send(child.actor, message);
}

} // namespace paceline
