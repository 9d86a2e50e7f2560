/// An actor that stands for all those an actor under test talks to, and remembers what it heard.
#pragma once

#include <functional>
#include <vector>

#include <caf/all.hpp>

#include "actors/messages.hpp"

namespace paceline::test {

struct heard {
  std::vector<end_run> ended;
  std::vector<report_drained> drained;
  std::vector<heed_refusal> refusals;
  std::vector<publish_in_flight> in_flight;
  std::vector<check_finished> finished;
  std::vector<take_outcomes> taken;
  std::vector<forget_messages> forgotten;
  std::vector<record_unsent> unsent;
  std::vector<use_reading> readings;
  std::vector<know_shard> known;
  std::vector<forget_shard> gone;
  std::vector<abandon_shard_ownership> abandoned;
  std::vector<wake_route> woken;
  int recorded = 0; ///< report_recorded
  int await = 0;    ///< await_recorded
  int released = 0; ///< release_ownership
  std::function<void(const end_run&)> on_ended;
};

class listener : public caf::event_based_actor {
public:
  listener(caf::actor_config& config, heard& into) : caf::event_based_actor(config), into_(into) {}

  caf::behavior make_behavior() override {
    set_default_handler(caf::drop);
    return {
        [this](const end_run& ended) {
          into_.ended.push_back(ended);
          if (into_.on_ended)
            into_.on_ended(ended);
        },
        [this](const report_drained& report) { into_.drained.push_back(report); },
        [this](const heed_refusal& refusal) { into_.refusals.push_back(refusal); },
        [this](const publish_in_flight& count) { into_.in_flight.push_back(count); },
        [this](const check_finished& check) { into_.finished.push_back(check); },
        [this](const take_outcomes& taken) { into_.taken.push_back(taken); },
        [this](const forget_messages& stored) { into_.forgotten.push_back(stored); },
        [this](const record_unsent& unsent) { into_.unsent.push_back(unsent); },
        [this](const use_reading& reading) { into_.readings.push_back(reading); },
        [this](const know_shard& known) { into_.known.push_back(known); },
        [this](const forget_shard& gone) { into_.gone.push_back(gone); },
        [this](const abandon_shard_ownership& order) { into_.abandoned.push_back(order); },
        [this](const wake_route& woken) { into_.woken.push_back(woken); },
        [this](const report_recorded&) { ++into_.recorded; },
        [this](const await_recorded&) { ++into_.await; },
        [this](const release_ownership&) { ++into_.released; },
    };
  }

private:
  heard& into_;
};

} // namespace paceline::test
