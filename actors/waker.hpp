/// The waker: tells everybody that a route has work, as seldom as is still quick.
///
/// Whoever took messages in says so once per commit, which may be thousands of times a second. The
/// first word goes out at once, to this node's actors and by NOTIFY to the others; what follows
/// within the next milliseconds is one word more. A wake-up is only a hint: a poll stands behind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include "actors/messages.hpp"
#include "storage/pool.hpp"
#include "transport/courier.hpp"

namespace paceline {

struct waker_options {
  nanoseconds every = std::chrono::milliseconds{20}; ///< at most so often for one route
};

/// One per node. Runs on CAF's scheduler; never blocks.
/// Receives: wake_route (API, from its own threads). Sends: wake_route (supervisor, campaigns,
///   cluster of this node; by NOTIFY all listeners).
/// Persists: nothing. After a crash: the next poll finds the work.
class waker_actor : public caf::event_based_actor {
public:
  /// `pool` sends the NOTIFYs; `here` hears of it without the way through the database.
  waker_actor(caf::actor_config& config, waker_options options, database_pool& pool,
              const boot_time& time, std::vector<caf::actor_addr> here);

  caf::behavior make_behavior() override;
  const char* name() const override { return "waker"; }

private:
  struct last_word {
    boot_instant at{};
    bool is_due_again = false;
  };

  void wake(const std::string& route);
  void pass_on(const std::string& route);
  void say_due();

  waker_options options_;
  database_pool& pool_;
  const boot_time& time_;
  std::vector<caf::actor_addr> here_;
  std::map<std::string, last_word> routes_; ///< those of the configuration, at most
};

} // namespace paceline
