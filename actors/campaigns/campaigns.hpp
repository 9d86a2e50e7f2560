/// The campaigns actor: sees to it that campaigns are expanded ahead of the dispatch, that canceled
/// ones are emptied and that finished ones say so.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <caf/all.hpp>

#include "actors/campaigns/round.hpp"
#include "actors/answers.hpp"
#include "actors/messages.hpp"
#include "config/logging.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct campaigns_options {
  std::map<route_id, std::string> routes; ///< those of this node
  expansion_limits expansion;
  std::int32_t writer = 0;
  nanoseconds expanding = std::chrono::milliseconds{250}; ///< between rounds while some expand
  nanoseconds busy = std::chrono::seconds{1};             ///< ... while some are open
  nanoseconds idle = std::chrono::seconds{5};             ///< a wake comes first, as a rule
};

/// One per node. Runs on CAF's scheduler; never blocks.
/// Receives: use_reading (supervisor), check_finished (recorder, sweeper), wake_route (listener).
/// Sends: wake_route (supervisor).
/// Persists: states of messages it expands or cancels; the end of campaigns.
/// After a crash: expansion goes on after the last committed page; a round finds what is finished.
class campaigns_actor : public caf::event_based_actor {
public:
  campaigns_actor(caf::actor_config& config, campaigns_options options, database_pool& background,
                  const boot_time& time, logger& log);

  caf::behavior make_behavior() override;
  const char* name() const override { return "campaigns"; }

private:
  struct owned_route {
    rate target;
    boot_instant heard{};
  };

  void run_round();
  void on_advanced(const campaigns_advanced& answer);
  void round_in(nanoseconds wait);
  void check(const check_finished& touched);

  campaigns_options options_;
  database_pool& background_;
  const boot_time& time_;
  logger& log_;
  caf::actor_addr supervisor_; ///< who sends the readings
  std::map<route_id, owned_route> owned_;
  std::int64_t tick_number_ = 0;
  bool running_ = false;
  bool again_ = false;
};

} // namespace paceline
