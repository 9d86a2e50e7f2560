#include "actors/sweeper.hpp"

#include <utility>

#include "actors/database_post.hpp"
#include "storage/drafts.hpp"
#include "storage/intake.hpp"

namespace paceline {
namespace {

constexpr std::int32_t rows_at_once = 1000;
// Some 50 ms of work each: between two of them others' statements have their turn.
constexpr std::int32_t page = 10'000;
// Of both kinds of ticks: what the number says.
constexpr std::int64_t time_to_sweep = 0, time_to_forget = 1;

/// One page of either kind.
result<std::int64_t> forget_page(session& db) {
  const auto answers = forget_answers(db, page);
  if (!answers)
    return answers;
  const auto addresses = forget_recipients(db, page);
  if (!addresses)
    return addresses;
  return *answers + *addresses;
}

} // namespace

sweeper_actor::sweeper_actor(caf::actor_config& config, sweeper_options options,
                             database_pool& background, logger& log, caf::actor_addr campaigns)
    : caf::event_based_actor(config), options_(options), background_(background), log_(log),
      campaigns_(std::move(campaigns)) {}

caf::behavior sweeper_actor::make_behavior() {
  delayed_send(this, options_.every, tick{time_to_sweep});
  delayed_send(this, options_.forget_every, tick{time_to_forget});
  return {
      [this](const tick& due) { due.number == time_to_sweep ? sweep() : forget(); },
      [this](const interrupted_swept& answer) { on_swept(answer); },
      [this](const old_rows_forgotten& answer) { on_forgotten(answer); },
  };
}

void sweeper_actor::sweep() {
  delayed_send(this, options_.every, tick{time_to_sweep});
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

void sweeper_actor::forget() {
  post(
      background_, address(), [](session& db) { return forget_page(db); },
      [](shared_result<std::int64_t> value) { return old_rows_forgotten{std::move(value)}; });
}

/// Goes on at once as long as there is something, and waits for an hour otherwise, or where the
/// database has something else to do.
void sweeper_actor::on_forgotten(const old_rows_forgotten& answer) {
  const auto& rows = *answer.rows;
  if (!rows)
    log_.warn("old rows could not be deleted; trying again in an hour",
              {{"error", rows.failure().text}});
  forgotten_ += rows ? *rows : 0;
  if (rows && *rows > 0)
    return forget();
  if (forgotten_ > 0)
    log_.info("deleted what nobody needs any more", {{"rows", std::exchange(forgotten_, 0)}});
  delayed_send(this, options_.forget_every, tick{time_to_forget});
}

} // namespace paceline
