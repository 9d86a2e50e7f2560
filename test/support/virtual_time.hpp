/// An actor system in virtual time, and a timetable for the fakes around it.
///
/// Nothing happens by itself: `pass` lets the time go from event to event, whether that is an
/// actor's timer or a fake's, and runs all actors to rest at each. A bound on steps ends a test
/// that would go round in circles.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/cluster/clock_estimate.hpp"
#include "storage/model/instants.hpp"

namespace paceline::test {

/// One per test; ends the actors it has spawned.
class virtual_time final : public boot_time {
public:
  virtual_time();
  ~virtual_time() override;
  virtual_time(const virtual_time&) = delete;
  virtual_time& operator=(const virtual_time&) = delete;

  boot_instant now() const noexcept override;
  /// The database's clock; `shift` sets it.
  database_instant database_now() const { return database_instant{offset_ + since_start()}; }
  void shift(nanoseconds by) { offset_ += by; }
  /// A perfect estimate of it.
  clock_estimate clock() const;

  template <class Actor, class... Arguments>
  caf::actor spawn(Arguments&&... arguments) {
    spawned_.push_back(system_->spawn<Actor>(std::forward<Arguments>(arguments)...));
    return spawned_.back();
  }

  /// Calls `task` at `when`, or at once if that has passed.
  void at(boot_instant when, std::function<void()> task);
  void after(nanoseconds wait, std::function<void()> task) { at(now() + wait, std::move(task)); }

  /// Runs what is due now. Throws std::runtime_error beyond the bound of steps, as all of these do.
  void settle() { pass(nanoseconds{0}); }
  void pass(nanoseconds length);
  /// Until `done` holds; false if it didn't within `at_most`.
  bool pass_until(const std::function<bool()>& done, nanoseconds at_most);

  /// Actor jobs run so far: a measure of how busy the actors are.
  std::uint64_t steps() const { return steps_; }

private:
  struct event {
    boot_instant when{};
    std::uint64_t order = 0;
    std::function<void()> task;
    bool operator>(const event& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };

  nanoseconds since_start() const noexcept;
  bool advance(boot_instant limit);
  void run_actors();
  void run_events();

  caf::actor_system_config config_;
  std::optional<caf::actor_system> system_;
  caf::scheduler::test_coordinator* scheduler_ = nullptr;
  std::vector<caf::actor> spawned_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::uint64_t next_order_ = 0;
  std::uint64_t steps_ = 0;
  nanoseconds offset_;
};

} // namespace paceline::test
