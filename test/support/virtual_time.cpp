#include "test/support/virtual_time.hpp"

#include <algorithm>
#include <stdexcept>

namespace paceline::test {
namespace {

// A test passes a few hundred thousand; one that goes round in circles passes any bound.
constexpr std::uint64_t most_steps = 5'000'000;
constexpr nanoseconds boot_start = std::chrono::hours{1};
constexpr nanoseconds database_start = std::chrono::seconds{1'700'000'000};

} // namespace

virtual_time::virtual_time() : offset_(database_start) {
  config_.set("scheduler.policy", caf::atom("testing"));
  system_.emplace(config_);
  scheduler_ = &dynamic_cast<caf::scheduler::test_coordinator&>(system_->scheduler());
}

virtual_time::~virtual_time() {
  for (auto& actor : spawned_)
    caf::anon_send_exit(actor, caf::exit_reason::kill);
  spawned_.clear();
  while (scheduler_->try_run_once()) {
  }
}

nanoseconds virtual_time::since_start() const noexcept {
  return scheduler_->clock().current_time.time_since_epoch();
}

boot_instant virtual_time::now() const noexcept {
  return boot_instant{boot_start + since_start()};
}

clock_estimate virtual_time::clock() const {
  clock_estimate exact;
  exact.on_round_trip(now(), database_now(), now());
  return exact;
}

void virtual_time::at(boot_instant when, std::function<void()> task) {
  events_.push({std::max(when, now()), next_order_++, std::move(task)});
}

void virtual_time::run_actors() {
  while (scheduler_->try_run_once())
    if (++steps_ > most_steps)
      throw std::runtime_error("the actors don't come to rest");
}

void virtual_time::run_events() {
  while (!events_.empty() && events_.top().when <= now()) {
    auto task = events_.top().task;
    events_.pop();
    task();
    run_actors();
    if (++steps_ > most_steps)
      throw std::runtime_error("the fakes don't come to rest");
  }
}

/// To the next event, but not past `limit`. False when there was none.
bool virtual_time::advance(boot_instant limit) {
  run_actors();
  run_events();
  auto& clock = scheduler_->clock();
  auto next = limit;
  if (!events_.empty())
    next = std::min(next, events_.top().when);
  if (!clock.schedule().empty())
    next = std::min(next,
                    boot_instant{boot_start + clock.schedule().begin()->first.time_since_epoch()});
  bool found = next < limit || (!events_.empty() && events_.top().when <= limit)
               || (!clock.schedule().empty()
                   && boot_instant{boot_start + clock.schedule().begin()->first.time_since_epoch()}
                          <= limit);
  clock.advance_time(std::max(next - now(), nanoseconds{0}));
  run_actors();
  run_events();
  return found;
}

void virtual_time::pass(nanoseconds length) {
  auto limit = now() + length;
  while (advance(limit))
    if (++steps_ > most_steps)
      throw std::runtime_error("the time stands still");
}

bool virtual_time::pass_until(const std::function<bool()>& done, nanoseconds at_most) {
  auto limit = now() + at_most;
  while (!done()) {
    if (!advance(limit) && !done())
      return false;
    if (++steps_ > most_steps)
      throw std::runtime_error("the time stands still");
  }
  return true;
}

} // namespace paceline::test
