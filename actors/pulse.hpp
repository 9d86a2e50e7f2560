/// The pulse: an actor that says once a second that actors run.
#pragma once

#include <chrono>

#include <caf/all.hpp>

#include "actors/messages.hpp"
#include "actors/node_health.hpp"

namespace paceline {

/// One per node. Runs on CAF's scheduler; never blocks. Receives and sends nothing but its own
/// timer. Persists nothing; after a crash there is nobody to ask.
class pulse_actor : public caf::event_based_actor {
public:
  pulse_actor(caf::actor_config& config, node_health& health)
      : caf::event_based_actor(config), health_(health) {}

  caf::behavior make_behavior() override {
    beat();
    return {[this](const tick&) { beat(); }};
  }
  const char* name() const override { return "pulse"; }

private:
  void beat() {
    health_.beat();
    delayed_send(this, std::chrono::seconds{1}, tick{});
  }

  node_health& health_;
};

} // namespace paceline
