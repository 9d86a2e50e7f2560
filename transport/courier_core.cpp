#include "transport/courier_core.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "storage/model/state.hpp"

namespace paceline {
namespace {

/// Starts in one pass: at 10 us each the pass stays well under a millisecond, and stop marks,
/// deadlines and answers are seen in between.
constexpr std::size_t starts_per_pass = 32;

/// How long a shard waits before it tries again whether the provider is back, however far the next
/// probe is: another shard's may have succeeded by then.
constexpr nanoseconds longest_hold = std::chrono::seconds{5};

/// A provider that nobody can reach is asked whether it lives this often at most.
constexpr nanoseconds health_every = std::chrono::seconds{10};

} // namespace

courier_core::courier_core(courier_options options, outcome_sink& sink, reactor& clock)
    : options_(options), clock_(clock), outcomes_(sink, options.outcome_delay),
      random_(options.seed) {}

void courier_core::add_route(route_id route, std::unique_ptr<provider> made,
                             call_instruments measured) {
  auto [added, is_new] = routes_.try_emplace(route);
  added->second.calls = std::move(made);
  added->second.measured = std::move(measured);
  added->second.health = breaker{options_.breaker};
  added->second.measured.on_breaker(breaker_state::closed);
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

void courier_core::ask_quota(route_id route, provider::quota_function answered) {
  auto found = routes_.find(route);
  if (found == routes_.end() || stopping_)
    answered(error{error_kind::unavailable, "the node stops"});
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
  database_instant last_slot{};
  for (std::size_t n = 0; !waiting_.empty(); ++n) {
    now = clock_.now();
    // Orders of one slot may belong in one request: they are never divided between passes.
    const auto& next = waiting_.front();
    if (now < next.at || (n >= starts_per_pass && next.slot != last_slot))
      break;
    last_slot = next.slot;
    start(waiting_.pop(), now);
  }
  flush_providers();
  outcomes_.flush_due(clock_.now());
}

void courier_core::flush_providers() {
  for (auto* with : std::exchange(to_flush_, {}))
    with->calls->flush();
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
  auto& with = found->second;
  switch (with.health.may_start(now)) {
  case breaker::permission::go:
    return open_call(with, std::move(order), false, now);
  case breaker::permission::probe:
    with.health.on_probe_started();
    with.measured.on_breaker(with.health.state());
    return open_call(with, std::move(order), true, now);
  case breaker::permission::no:
    return hold_back(with, std::move(order), now);
  }
}

void courier_core::open_call(served& with, send_order order, bool is_probe, boot_instant now) {
  auto what = std::make_shared<active_call>(static_cast<write_permit&>(*this), with.measured,
                                            std::move(order), now);
  what->is_probe = is_probe;
  what->place = calls_.insert(calls_.end(), what);
  what->measured().on_call_opened();
  if (std::find(to_flush_.begin(), to_flush_.end(), &with) == to_flush_.end())
    to_flush_.push_back(&with);
  try {
    with.calls->start(*what,
                      [this, what](provider_answer given) { answer(*what, std::move(given)); });
  } catch (const std::exception& failure) {
    provider_answer failed;
    failed.kind = what->written() ? outcome_kind::unknown : outcome_kind::not_started;
    failed.reason =
        what->written() ? reason_code::provider_connection_lost : reason_code::provider_unreachable;
    failed.diagnostic = failure.what();
    answer(*what, std::move(failed));
  }
}

// The breaker -----------------------------------------------------------------

/// The order comes back with what the provider said last, and how long its shard should wait.
void courier_core::hold_back(served& with, send_order order, boot_instant now) {
  outcome result;
  result.of = order.message->of;
  result.kind = outcome_kind::not_started;
  result.reason = reason_code::provider_down;
  result.diagnostic = with.last_failure;
  result.retry_after = longest_hold;
  if (with.health.state() == breaker_state::waiting)
    result.retry_after = std::min<nanoseconds>(with.health.probe_at() - now, longest_hold);
  if (with.health.state() == breaker_state::stopped)
    ask_health(with, now);
  report(std::move(order), std::move(result));
}

void courier_core::ask_health(served& with, boot_instant now) {
  if (with.is_asking_health || now - with.health_asked < health_every)
    return;
  with.is_asking_health = true;
  with.health_asked = now;
  with.calls->ask_health([this, &with](bool lives) {
    with.is_asking_health = false;
    if (lives)
      with.health.on_provider_alive(clock_.now());
    with.measured.on_breaker(with.health.state());
  });
}

void courier_core::observe(const active_call& what, const outcome& result) {
  auto& with = routes_.at(what.order().route);
  const auto sign = sign_of(result);
  if (sign == health_sign::hard_failure_unknown || sign == health_sign::hard_failure_untaken)
    with.last_failure =
        result.diagnostic.empty() ? std::string{name(result.reason)} : result.diagnostic;
  with.health.on_outcome(result, what.is_probe, clock_.now(), random_());
  with.measured.on_breaker(with.health.state());
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
  auto result = what.outcome_of(std::move(given));
  if (before == active_call::stage::open)
    observe(what, result);
  report(what.order(), std::move(result));
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
  auto result = what->outcome_of(std::move(none));
  observe(*what, result);
  report(what->order(), std::move(result));
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
