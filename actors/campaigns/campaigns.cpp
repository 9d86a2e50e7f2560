#include "actors/campaigns/campaigns.hpp"

#include <algorithm>
#include <utility>

#include "actors/database_post.hpp"

namespace paceline {
namespace {

// Readings of a route come with every renewal as long as this node owns a part of it.
constexpr nanoseconds reading_age = std::chrono::seconds{5};
// Two last records each see the other's messages as open: so many may be out at once here.
constexpr std::int64_t few_open = 100;

} // namespace

campaigns_actor::campaigns_actor(caf::actor_config& config, campaigns_options options,
                                 database_pool& background, const boot_time& time, logger& log)
    : caf::event_based_actor(config), options_(std::move(options)), background_(background),
      time_(time), log_(log) {}

caf::behavior campaigns_actor::make_behavior() {
  return {
      [this](const use_reading& reading) {
        if (auto sender = caf::actor_cast<caf::actor_addr>(current_sender()))
          supervisor_ = sender;
        auto first = owned_.empty();
        const auto& route = reading.reading;
        owned_[route.route] = {route.next ? route.next->target : route.current.target, time_.now()};
        if (first)
          run_round();
      },
      [this](const wake_route&) { run_round(); },
      [this](const check_finished& touched) { check(touched); },
      [this](const tick& due) {
        if (due.number == tick_number_)
          run_round();
      },
      [this](const campaigns_advanced& answer) { on_advanced(answer); },
  };
}

/// Only a hint; the next regular round, a second later, finds what other nodes' records hid.
void campaigns_actor::check(const check_finished& touched) {
  if (std::any_of(touched.streams.begin(), touched.streams.end(),
                  [](const touched_stream& stream) { return stream.open_left <= few_open; }))
    run_round();
}

void campaigns_actor::run_round() {
  if (running_) {
    again_ = true;
    return;
  }
  std::map<route_id, expansion_route> routes;
  auto now = time_.now();
  for (const auto& [id, owned] : owned_)
    if (now - owned.heard < reading_age)
      routes[id] = {options_.routes[id], expansion_buffer(options_.expansion, owned.target)};
  if (routes.empty())
    return round_in(options_.idle);
  running_ = true;
  post(
      background_, address(),
      [routes = std::move(routes), limits = options_.expansion, writer = options_.writer](
          session& db) { return run_campaign_round(db, routes, limits, writer); },
      [](shared_result<campaign_round_report> value) {
        return campaigns_advanced{std::move(value)};
      });
}

void campaigns_actor::on_advanced(const campaigns_advanced& answer) {
  running_ = false;
  const auto& report = *answer.report;
  if (!report) {
    log_.warn("campaigns could not be advanced; trying again", {{"error", report.failure().text}});
    return round_in(std::chrono::seconds{1});
  }
  for (const auto& route : report->woken)
    tell(supervisor_, wake_route{route});
  if (std::exchange(again_, false))
    return run_round();
  if (report->expanding > 0)
    round_in(options_.expanding);
  else
    round_in(report->open > report->finished ? options_.busy : options_.idle);
}

void campaigns_actor::round_in(nanoseconds wait) {
  delayed_send(this, wait, tick{++tick_number_});
}

} // namespace paceline
