/// What the courier counts for one route: slots, lateness, calls.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "config/metrics.hpp"
#include "storage/model/instants.hpp"
#include "storage/model/outcome.hpp"
#include "transport/breaker.hpp"

namespace paceline {

/// Used on the courier's thread. Made without arguments it counts nothing.
class call_instruments {
public:
  call_instruments() = default;
  /// `into` must outlive this.
  call_instruments(metrics& into, std::string route);

  /// A call for so many recipients has started `lateness` after its slot.
  void on_start(std::size_t recipients, nanoseconds lateness) const;
  /// The slots of a message passed unused.
  void on_lost_slots(std::size_t recipients) const;
  void on_breaker(breaker_state state);
  void on_call_opened() const { in_flight_.add(1); }
  void on_call_closed() const { in_flight_.add(-1); }
  /// What became of a call, `length` after it was begun.
  void on_answer(outcome_kind kind, nanoseconds length);

private:
  metrics* into_ = nullptr;
  std::string route_;
  counter used_, late_, lost_;
  histogram lateness_;
  gauge in_flight_;
  std::array<gauge, breaker_states> breakers_; ///< by state
  std::optional<breaker_state> shown_;
  std::array<histogram, outcome_kinds> seconds_; ///< by outcome, made when the first one comes
};

} // namespace paceline
