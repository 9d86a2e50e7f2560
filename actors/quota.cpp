#include "actors/quota.hpp"

#include <algorithm>
#include <utility>

#include "actors/database_post.hpp"

namespace paceline {
namespace {

// A node that has not heard of its route for so long owns nothing of it: readings come with every
// renewal, each 1.5 s.
constexpr nanoseconds reading_age = std::chrono::seconds{5};
constexpr nanoseconds ask_again = std::chrono::seconds{2};
constexpr nanoseconds look_every = std::chrono::milliseconds{500};
// The new grid may start so soon when this node alone runs the route and its courier has stopped:
// room for the statement's round trip and for the shards' next claims.
constexpr nanoseconds held_lead = std::chrono::milliseconds{100};

} // namespace

std::optional<rate> wanted_target(const quota_options& options, std::optional<rate> raw_quota,
                                  rate by_operator, bool braked) {
  if (!raw_quota)
    return std::nullopt; // an absolute rate waits too: the daily quota must be known
  auto full = by_operator;
  if (full.is_zero())
    full = options.absolute;
  if (full.is_zero())
    full = rate::per_second(raw_quota->per_second() * options.rate_factor);
  return braked ? std::min(*raw_quota, full) : full;
}

quota_actor::quota_actor(caf::actor_config& config, quota_options options, database_pool& control,
                         order_desk& desk, const boot_time& time, logger& log)
    : caf::event_based_actor(config), options_(std::move(options)), control_(control), desk_(desk),
      time_(time), log_(log) {}

caf::behavior quota_actor::make_behavior() {
  delayed_send(this, look_every, tick{});
  return {
      [this](const tick&) {
        delayed_send(this, look_every, tick{});
        look();
      },
      [this](const use_reading& reading) { on_reading(reading); },
      [this](const heed_refusal& refused) { heed(refused); },
      [this](const heed_trouble& trouble) { heed(trouble); },
      [this](const trouble_noted& answer) { on_trouble_noted(answer); },
      [this](const stream_paused& answer) { on_stream_paused(answer); },
      [this](const change_rate& changed) {
        options_.rate_factor = changed.factor;
        options_.absolute = changed.absolute;
        adjust_target();
      },
      [this](const refresh_begun& answer) {
        if (*answer.won && **answer.won)
          desk_.ask_quota(address(), options_.route);
        else // somebody asks just now, or our copy is a moment younger than we think
          asked_at_ = time_.now() - options_.cache + ask_again;
      },
      [this](const quota_answered& answer) { on_quota(answer); },
      [this](const quota_read& answer) {
        if (*answer.cached && **answer.cached && !quota_stale_)
          raw_quota_ = (**answer.cached)->quota.max_send_rate;
        adjust_target();
      },
      [this](const route_changed& answer) { on_changed(answer); },
  };
}

bool quota_actor::is_active() const {
  return last_ && time_.now() - heard_ < reading_age;
}

void quota_actor::on_reading(const use_reading& reading) {
  bool first = !is_active();
  if (auto sender = caf::actor_cast<caf::actor_addr>(current_sender()))
    supervisor_ = sender;
  last_ = reading;
  // A step is told once; what this actor tells of the route later carries none.
  last_->clock_step = nanoseconds{0};
  heard_ = time_.now();
  if (first)
    look();
  else
    adjust_target();
}

void quota_actor::look() {
  if (!is_active())
    return;
  if (brake_unwritten_ && changing_ == 0)
    write_brake();
  if (quota_stale_)
    refresh(nanoseconds{0});
  else if (time_.now() - asked_at_ >= options_.cache)
    refresh(options_.cache);
  note_trouble_now();
  adjust_target();
}

void quota_actor::refresh(nanoseconds max_age) {
  asked_at_ = time_.now();
  post(
      control_, address(),
      [route = options_.route, max_age](session& db) {
        return begin_quota_refresh(db, route, max_age);
      },
      [](shared_result<bool> value) { return refresh_begun{std::move(value)}; });
}

void quota_actor::on_quota(const quota_answered& answer) {
  if (!answer.quota) {
    if (!silent_)
      log_.warn("the provider did not tell its quota; asking again",
                {{"route", options_.route_text}, {"provider", answer.problem}});
    silent_ = true;
    // Without a target nothing is tried that could tell the reason.
    if (newest_target().is_zero())
      heed(heed_trouble{answer.problem});
    return;
  }
  if (silent_ && newest_target().is_zero())
    heed(heed_trouble{});
  silent_ = false;
  quota_stale_ = false;
  raw_quota_ = answer.quota->max_send_rate;
  options_.measured.show(*answer.quota);
  post(
      control_, address(),
      [route = options_.route, quota = *answer.quota](session& db) {
        auto stored = store_quota(db, route, quota);
        return stored ? read_quota(db, route)
                      : result<std::optional<cached_quota>>{stored.failure()};
      },
      [](shared_result<std::optional<cached_quota>> value) {
        return quota_read{std::move(value)};
      });
}

/// Gives the route the target it should have, unless it has it or a change is on its way.
void quota_actor::adjust_target() {
  if (!is_active() || changing_ > 0 || quota_stale_ || brake_unwritten_)
    return;
  auto braked = last_->reading.brake_left > nanoseconds{0};
  auto target = wanted_target(options_, raw_quota_, last_->reading.override_rate, braked);
  if (!target)
    return;
  if (*target == newest_target()) {
    held_ = false; // the brake's own grid is the one to stay
    return;
  }
  grid_lead lead;
  if (newest_target().is_zero())
    lead.held = held_lead; // nothing can start on a grid without a target: nobody to wait for
  if (held_) {
    refuse_present_grids();
    lead.held = held_lead;
    held_ = false;
  }
  log_.info("the route's target changes", {{"route", options_.route_text},
                                           {"from", newest_target().per_second()},
                                           {"to", target->per_second()},
                                           {"braked", braked}});
  change_route([route = options_.route, node = options_.node, target = *target, lead](session& db) {
    return set_target(db, route, node, target, lead);
  });
}

template <class Work>
void quota_actor::change_route(Work work, bool brakes) {
  ++changing_;
  post(control_, address(), std::move(work), [brakes](shared_result<route_reading> value) {
    return route_changed{std::move(value), brakes};
  });
}

void quota_actor::on_changed(const route_changed& answer) {
  changing_ = std::max(0, changing_ - 1);
  if (!*answer.reading) {
    log_.warn("the route's target could not be changed; trying again",
              {{"route", options_.route_text}, {"error", answer.reading->failure().text}});
    return;
  }
  if (!last_)
    return;
  last_->reading = **answer.reading;
  last_->clock_step = nanoseconds{0};
  if (answer.braked)
    brake_unwritten_ = false;
  // Somebody else may have written a grid that we had not heard of when the courier was told.
  if (held_)
    desk_.refuse_grids(options_.route, newest_grid() - 1);
  tell(supervisor_, *last_);
  adjust_target();
}

// Refusals --------------------------------------------------------------------

void quota_actor::heed(const heed_refusal& refused) {
  switch (refused.what) {
  case refusal::none:
  case refusal::this_message:
    return;
  case refusal::stream:
    return pause_stream(refused);
  case refusal::rate:
    return brake();
  case refusal::daily_quota:
    if (!is_news())
      return;
    options_.measured.count(refused.what);
    log_.warn("the provider's daily quota is used up; the route waits",
              {{"route", options_.route_text}});
    return change_route(
        [route = options_.route, wait = std::max(refused.retry_after, options_.daily_wait)](
            session& db) -> result<route_reading> {
          if (auto waiting = wait_route(db, route, daily_quota_reason, wait); !waiting)
            return waiting.failure();
          return read_route(db, route);
        });
  case refusal::sending_paused:
    if (!is_news())
      return;
    options_.measured.count(refused.what);
    log_.error("the provider refuses to send for this account; the route stops",
               {{"route", options_.route_text}, {"provider", refused.text}});
    return change_route([route = options_.route,
                         text = refused.text](session& db) -> result<route_reading> {
      if (auto stopped = stop_route(db, route, "the provider refuses to send: " + text); !stopped)
        return stopped.failure();
      return read_route(db, route);
    });
  }
}

/// What the provider refuses of one campaign's message it refuses of all of them.
void quota_actor::pause_stream(const heed_refusal& refused) {
  post(
      control_, address(),
      [stream = refused.stream, text = refused.text](session& db) {
        return pause_stream_with_reason(db, stream, text);
      },
      [stream = refused.stream, text = refused.text](shared_result<stream_kind> value) {
        return stream_paused{stream, text, std::move(value)};
      });
}

void quota_actor::on_stream_paused(const stream_paused& answer) {
  if (*answer.kind)
    log_.error("the provider refuses what the campaign's messages share; it is paused",
               {{"campaign", answer.stream.value()}, {"provider", answer.text}});
  else
    log_.warn("a campaign could not be paused; its next refusal tries again",
              {{"campaign", answer.stream.value()}, {"error", answer.kind->failure().text}});
}

/// People see why nothing goes out. One statement at a time; the newest text wins.
void quota_actor::heed(const heed_trouble& trouble) {
  const bool is_news = trouble.text.empty() != trouble_.empty(); // each shard tells its own
  trouble_ = trouble.text;
  if (is_news && !trouble_.empty())
    log_.warn("the provider fails; one message at a time finds out when it works again",
              {{"route", options_.route_text}, {"provider", trouble_}});
  else if (is_news)
    log_.info("the provider works again", {{"route", options_.route_text}});
  note_trouble_now();
}

void quota_actor::note_trouble_now() {
  if (noting_trouble_ || noted_trouble_ == trouble_)
    return;
  noting_trouble_ = true;
  post(
      control_, address(),
      [route = options_.route, text = trouble_](session& db) -> result<std::string> {
        if (auto noted = note_trouble(db, route, text); !noted)
          return noted.failure();
        return text;
      },
      [](shared_result<std::string> value) { return trouble_noted{std::move(value)}; });
}

void quota_actor::on_trouble_noted(const trouble_noted& answer) {
  noting_trouble_ = false;
  if (!*answer.text)
    return; // the next look tries again
  noted_trouble_ = **answer.text;
  note_trouble_now();
}

/// Refusals arrive in bunches, one for each call that was on the wire: they are one event.
bool quota_actor::is_news() {
  auto now = time_.now();
  if (!last_ || (refused_at_ != boot_instant{} && now - refused_at_ < std::chrono::seconds{1}))
    return false;
  refused_at_ = now;
  return true;
}

void quota_actor::brake() {
  if (!is_news())
    return;
  options_.measured.count(refusal::rate);
  quota_stale_ = true;
  held_ = true;
  refuse_present_grids();
  log_.warn("the provider refused for the rate; braking",
            {{"route", options_.route_text}, {"target", newest_target().per_second()}});
  brake_unwritten_ = true;
  write_brake();
  refresh(nanoseconds{0});
}

/// Tried again until the row has it: until then the courier refuses every grid there is.
void quota_actor::write_brake() {
  change_route(
      [route = options_.route, node = options_.node, brake = options_.brake](session& db) {
        grid_lead lead;
        lead.held = held_lead;
        return brake_route(db, route, node, brake, lead);
      },
      true);
}

void quota_actor::refuse_present_grids() {
  desk_.refuse_grids(options_.route, newest_grid());
}

std::int64_t quota_actor::newest_grid() const {
  const auto& reading = last_->reading;
  return reading.next ? reading.next->number : reading.current.number;
}

rate quota_actor::newest_target() const {
  const auto& reading = last_->reading;
  return reading.next ? reading.next->target : reading.current.target;
}

} // namespace paceline
