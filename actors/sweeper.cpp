#include "actors/sweeper.hpp"

#include <utility>

#include "actors/database_post.hpp"

namespace paceline {
namespace {

constexpr std::int32_t rows_at_once = 1000;

} // namespace

sweeper_actor::sweeper_actor(caf::actor_config& config, sweeper_options options,
                             database_pool& background, logger& log, caf::actor_addr campaigns)
    : caf::event_based_actor(config), options_(options), background_(background), log_(log),
      campaigns_(std::move(campaigns)) {}

caf::behavior sweeper_actor::make_behavior() {
  delayed_send(this, options_.every, tick{});
  return {
      [this](const tick&) { sweep(); },
      [this](const interrupted_swept& answer) { on_swept(answer); },
  };
}

void sweeper_actor::sweep() {
  delayed_send(this, options_.every, tick{});
  post(
      background_, address(),
      [age = options_.interrupted_after, writer = options_.writer](session& db) {
        return sweep_interrupted(db, age, rows_at_once, writer);
      },
      [](shared_result<record_reply> value) { return interrupted_swept{std::move(value)}; });
}

void sweeper_actor::on_swept(const interrupted_swept& answer) {
  const auto& swept = *answer.reply;
  if (!swept || swept->changed == 0)
    return;
  log_.warn("interrupted attempts became acceptance_unknown", {{"messages", swept->changed}});
  tell(campaigns_, check_finished{swept->streams});
}

} // namespace paceline
