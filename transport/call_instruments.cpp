#include "transport/call_instruments.hpp"

#include <utility>

#include "config/metric_list.hpp"

namespace paceline {
namespace {

// The courier sleeps to the microsecond; a thousand times that means that it did not get the CPU.
constexpr nanoseconds late_from = std::chrono::milliseconds{1};

} // namespace

call_instruments::call_instruments(metrics& into, std::string route)
    : into_(&into), route_(std::move(route)), used_(into.get(metric::slots_used, {route_})),
      late_(into.get(metric::slots_late, {route_})), lost_(into.get(metric::slots_lost, {route_})),
      lateness_(into.get(metric::start_lateness, {route_})),
      in_flight_(into.get(metric::calls_in_flight, {route_})) {
  for (std::size_t i = 0; i < breakers_.size(); ++i)
    breakers_[i] = into.get(metric::breaker, {route_, name(static_cast<breaker_state>(i))});
}

void call_instruments::on_breaker(breaker_state state) {
  if (shown_ == state)
    return;
  shown_ = state;
  for (std::size_t i = 0; i < breakers_.size(); ++i)
    breakers_[i].set(i == static_cast<std::size_t>(state) ? 1 : 0);
}

void call_instruments::on_start(std::size_t recipients, nanoseconds lateness) const {
  const auto slots = static_cast<double>(recipients);
  used_.add(slots);
  if (lateness > late_from)
    late_.add(slots);
  lateness_.observe(lateness);
}

void call_instruments::on_lost_slots(std::size_t recipients) const {
  lost_.add(static_cast<double>(recipients));
}

void call_instruments::on_answer(outcome_kind kind, nanoseconds length) {
  if (!into_)
    return;
  auto& seconds = seconds_.at(static_cast<std::size_t>(kind));
  if (!seconds)
    seconds = into_->get(metric::call_seconds, {route_, name(kind)});
  seconds.observe(length);
}

} // namespace paceline
