#include "transport/courier_core.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace paceline {
namespace {

/// Starts in one pass: at 10 us each the pass stays well under a millisecond, and stop marks,
/// deadlines and answers are seen in between.
constexpr std::size_t starts_per_pass = 32;

} // namespace

courier_core::courier_core(courier_options options, outcome_sink& sink, reactor& clock)
    : options_(options), clock_(clock), outcomes_(sink, options.outcome_delay) {}

void courier_core::add_route(route_id route, std::unique_ptr<provider> made,
                             call_instruments measured) {
  routes_.insert_or_assign(route, served{std::move(made), std::move(measured)});
}

void courier_core::submit(std::vector<send_order> orders) {
  for (auto& order : orders) {
    if (stopping_)
      return_unstarted(std::move(order), reason_code::node_stopping);
    else if (auto refusal = rules_.refusal_of(order))
      return_unstarted(std::move(order), *refusal);
    else
      waiting_.push(std::move(order));
  }
}

void courier_core::set_deadline(shard_id shard, epoch_id epoch, boot_instant deadline) {
  if (!rules_.set_deadline(shard, epoch, deadline))
    return;
  return_all(waiting_.take_if([this, shard](const send_order& order) {
    return order.shard == shard && rules_.refusal_of(order) == reason_code::ownership_lost;
  }),
             reason_code::ownership_lost);
}

void courier_core::refuse_grids(route_id route, std::int64_t grid_number) {
  rules_.refuse_grids(route, grid_number);
  return_all(waiting_.take_if([route, grid_number](const send_order& order) {
    return order.route == route && order.grid_number <= grid_number;
  }),
             reason_code::route_braked);
}

void courier_core::stop_stream(stream_id stream) {
  rules_.stop_stream(stream);
  return_all(waiting_.take_if([stream](const send_order& order) { return order.stream == stream; }),
             reason_code::stream_stopped);
}

void courier_core::purge(shard_id shard, reason_code reason) {
  return_all(waiting_.take_if([shard](const send_order& order) { return order.shard == shard; }),
             reason);
  for (auto& what : calls_)
    if (what->order().shard == shard)
      what->refuse(reason); // still connecting: it must not start any more
}

void courier_core::ask_quota(route_id route,
                             std::function<void(std::optional<quota_reading>)> answered) {
  auto found = routes_.find(route);
  if (found == routes_.end() || stopping_)
    answered(std::nullopt);
  else
    found->second.calls->ask_quota(std::move(answered));
}

void courier_core::begin_stop() {
  stopping_ = true;
  return_all(waiting_.take_if([](const send_order&) { return true; }), reason_code::node_stopping);
  for (auto& what : calls_)
    what->refuse(reason_code::node_stopping);
}

void courier_core::finish_stop() {
  while (!calls_.empty())
    give_up(std::shared_ptr{calls_.front()}, reason_code::node_stopping);
  outcomes_.flush_all();
}

void courier_core::advance() {
  auto now = clock_.now();
  expire_calls(now);
  for (std::size_t n = 0; n < starts_per_pass && !waiting_.empty(); ++n) {
    now = clock_.now();
    if (now < waiting_.front().at)
      break;
    start(waiting_.pop(), now);
  }
  outcomes_.flush_due(clock_.now());
}

std::optional<boot_instant> courier_core::next_event() const {
  auto earliest = outcomes_.next();
  auto consider = [&earliest](boot_instant when) {
    earliest = earliest ? std::min(*earliest, when) : when;
  };
  if (!waiting_.empty())
    consider(waiting_.front().at);
  if (!calls_.empty())
    consider(calls_.front()->began() + options_.call_timeout);
  return earliest;
}

courier_gauges courier_core::take_gauges() {
  gauges_.waiting = waiting_.size();
  gauges_.in_flight = calls_.size();
  auto taken = gauges_;
  gauges_.worst_lateness = nanoseconds{0};
  return taken;
}

std::optional<reason_code> courier_core::refusal(const send_order& order, boot_instant now) {
  return rules_.refusal_at(order, now);
}

void courier_core::wrote(const active_call& what, nanoseconds lateness) {
  what.measured().on_start(what.message().recipients.size(), lateness);
  ++gauges_.started;
  gauges_.worst_lateness = std::max(gauges_.worst_lateness, lateness);
}

void courier_core::start(send_order order, boot_instant now) {
  if (auto refused = rules_.refusal_at(order, now)) {
    return_unstarted(std::move(order), *refused);
    return;
  }
  auto found = routes_.find(order.route);
  if (found == routes_.end()) {
    return_unstarted(std::move(order), reason_code::provider_unreachable);
    return;
  }
  auto what = std::make_shared<active_call>(static_cast<write_permit&>(*this),
                                            found->second.measured, std::move(order), now);
  what->place = calls_.insert(calls_.end(), what);
  what->measured().on_call_opened();
  try {
    found->second.calls->start(
        *what, [this, what](provider_answer given) { answer(*what, std::move(given)); });
  } catch (const std::exception& failure) {
    provider_answer failed;
    failed.kind = what->written() ? outcome_kind::unknown : outcome_kind::not_started;
    failed.reason =
        what->written() ? reason_code::provider_connection_lost : reason_code::provider_unreachable;
    failed.diagnostic = failure.what();
    answer(*what, std::move(failed));
  }
}

void courier_core::answer(active_call& what, provider_answer given) {
  auto before = std::exchange(what.at, active_call::stage::settled);
  if (before == active_call::stage::settled)
    return;
  // It was reported as unknown already; only an answer that says more is worth a second report.
  if (before == active_call::stage::expired && given.kind == outcome_kind::unknown)
    return;
  if (what.written())
    what.measured().on_answer(given.kind, clock_.now() - what.began());
  report(what.order(), what.outcome_of(std::move(given)));
  if (before == active_call::stage::open)
    close(what);
}

void courier_core::give_up(const std::shared_ptr<active_call>& what, reason_code if_unwritten) {
  provider_answer none;
  if (what->written()) {
    what->measured().on_answer(outcome_kind::unknown, clock_.now() - what->began());
    none.reason = reason_code::provider_timeout;
    what->at = active_call::stage::expired;
  } else {
    // From here on it can't be written, so it is certain that the provider does not get it.
    what->refuse(if_unwritten);
    none.kind = outcome_kind::not_started;
    none.reason = if_unwritten;
    what->at = active_call::stage::settled;
  }
  report(what->order(), what->outcome_of(std::move(none)));
  close(*what);
}

void courier_core::close(const active_call& what) {
  what.measured().on_call_closed();
  calls_.erase(what.place);
}

void courier_core::expire_calls(boot_instant now) {
  while (!calls_.empty() && calls_.front()->began() + options_.call_timeout <= now)
    give_up(std::shared_ptr{calls_.front()}, reason_code::provider_unreachable);
}

void courier_core::report(send_order order, outcome result) {
  if (result.kind == outcome_kind::not_started && result.reason == reason_code::slot_missed) {
    ++gauges_.missed;
    if (auto route = routes_.find(order.route); route != routes_.end())
      route->second.measured.on_lost_slots(order.message->recipients.size());
  }
  outcomes_.add(delivery{std::move(order), std::move(result)}, clock_.now());
}

void courier_core::return_unstarted(send_order order, reason_code reason) {
  outcome result;
  result.of = order.message->of;
  result.kind = outcome_kind::not_started;
  result.reason = reason;
  report(std::move(order), std::move(result));
}

void courier_core::return_all(std::vector<send_order> orders, reason_code reason) {
  for (auto& order : orders)
    return_unstarted(std::move(order), reason);
}

} // namespace paceline
