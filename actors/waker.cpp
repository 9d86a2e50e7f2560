#include "actors/waker.hpp"

#include <utility>

#include "actors/database_post.hpp"
#include "storage/wake_listener.hpp"

namespace paceline {

waker_actor::waker_actor(caf::actor_config& config, waker_options options, database_pool& pool,
                         const boot_time& time, std::vector<caf::actor_addr> here)
    : caf::event_based_actor(config), options_(options), pool_(pool), time_(time),
      here_(std::move(here)) {}

caf::behavior waker_actor::make_behavior() {
  return {
      [this](const wake_route& woken) { wake(woken.route); },
      [this](const tick&) { say_due(); },
  };
}

void waker_actor::wake(const std::string& route) {
  auto [entry, is_new] = routes_.try_emplace(route);
  auto& last = entry->second;
  if (last.is_due_again)
    return;
  if (is_new || time_.now() - last.at >= options_.every)
    return pass_on(route);
  last.is_due_again = true;
  delayed_send(this, options_.every, tick{});
}

/// A tick may come for another route than the one it was set for: then it comes early, once.
void waker_actor::say_due() {
  for (auto& [route, last] : routes_)
    if (std::exchange(last.is_due_again, false))
      pass_on(route);
}

void waker_actor::pass_on(const std::string& route) {
  routes_[route].at = time_.now();
  for (const auto& actor : here_)
    tell(actor, wake_route{route});
  // Neither a full queue nor a failure matters: the poll finds the work.
  static_cast<void>(pool_.submit([route](session* on, const error&) {
    if (on)
      static_cast<void>(send_wake(*on, route));
  }));
}

} // namespace paceline
