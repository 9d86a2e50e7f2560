/// The sweeper: says of attempts that nobody answers for any more that their fate is unknown.
///
/// It looks only at epochs that ended without a release (`lost_epochs`), and only at what has been
/// attempting for longer than a slot's wait plus the call's timeout. Once an hour it also forgets
/// what has served its time: answers remembered for 7 days, and the addresses of drafts that were
/// sent or canceled; page by page, so that neither a statement nor the queue of its pool gets long.
#pragma once

#include <cstdint>

#include <caf/all.hpp>

#include "actors/answers.hpp"
#include "config/logging.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct sweeper_options {
  nanoseconds every = std::chrono::seconds{10};
  nanoseconds interrupted_after = std::chrono::minutes{3};
  nanoseconds forget_every = std::chrono::hours{1};
  std::int32_t writer = 0; ///< of counters
};

/// One per node. Runs on CAF's scheduler; never blocks.
/// Receives: interrupted_swept, old_rows_forgotten (database). Sends: check_finished (campaigns).
/// Persists: acceptance_unknown with INTERRUPTED_PROVIDER_ATTEMPT; deletes rows nobody needs.
/// After a crash: another node's sweep, or the next one here, does the same.
class sweeper_actor : public caf::event_based_actor {
public:
  sweeper_actor(caf::actor_config& config, sweeper_options options, database_pool& background,
                logger& log, caf::actor_addr campaigns);

  caf::behavior make_behavior() override;
  const char* name() const override { return "sweeper"; }

private:
  void sweep();
  void on_swept(const interrupted_swept& answer);
  void forget();
  void on_forgotten(const old_rows_forgotten& answer);

  sweeper_options options_;
  database_pool& background_;
  logger& log_;
  caf::actor_addr campaigns_;
  std::int64_t forgotten_ = 0; ///< in this hour's round
};

} // namespace paceline
