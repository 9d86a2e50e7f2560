#include "transport/courier.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "transport/courier_core.hpp"
#include "transport/courier_inbox.hpp"
#include "transport/epoll_reactor.hpp"

namespace paceline {
namespace {

/// The thread sleeps most of the time and must be on time when it wakes. All of it is a wish: where
/// the system does not permit it, the courier works as well, only less punctually under load.
///
/// Real-time comes first because niceness only counts within one session where the kernel groups
/// processes by session (measured on two cores with eight compilers at work: 99 % within 0.2 ms
/// against 5 ms). The lowest real-time priority, round robin, and the kernel keeps 5 % for others.
void become_punctual() {
  ::pthread_setname_np(::pthread_self(), "courier");
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); // the default lets sleeps end 50 us late
  sched_param lowest{};
  lowest.sched_priority = ::sched_get_priority_min(SCHED_RR);
  constexpr int above_normal = -10;
  if (::pthread_setschedparam(::pthread_self(), SCHED_RR, &lowest) != 0)
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), above_normal);
}

} // namespace

class courier::impl {
public:
  impl(courier_options options, outcome_sink& sink, const boot_time& clock)
      : sink_(sink), reactor_(clock), core_(options, sink, reactor_), inbox_(reactor_),
        thread_([this] { run(); }) {}

  bool post(courier_inbox::request what) { return inbox_.post(std::move(what)); }
  reactor& shared_reactor() { return reactor_; }
  outcome_sink& sink() { return sink_; }

  void stop(nanoseconds patience) {
    std::lock_guard lock{stopping_};
    inbox_.post([this, patience](courier_core& core) {
      core.begin_stop();
      stop_at_ = reactor_.now() + patience;
    });
    if (thread_.joinable())
      thread_.join();
  }

  courier_gauges take_gauges() {
    std::lock_guard lock{gauges_mutex_};
    auto taken = gauges_;
    gauges_.worst_lateness = nanoseconds{0};
    return taken;
  }

private:
  void run() {
    become_punctual();
    std::vector<courier_inbox::request> requests;
    while (!stop_at_ || (core_.in_flight() > 0 && reactor_.now() < *stop_at_)) {
      reactor_.wait(next_wake());
      inbox_.take(requests);
      for (auto& request : requests)
        request(core_);
      core_.advance();
      reactor_.run_timers();
      publish_gauges();
    }
    inbox_.close(requests);
    for (auto& request : requests)
      request(core_);
    core_.finish_stop();
    publish_gauges();
  }

  std::optional<boot_instant> next_wake() const {
    auto next = core_.next_event();
    if (stop_at_)
      next = next ? std::min(*next, *stop_at_) : *stop_at_;
    return next;
  }

  void publish_gauges() {
    auto fresh = core_.take_gauges();
    std::lock_guard lock{gauges_mutex_};
    fresh.worst_lateness = std::max(fresh.worst_lateness, gauges_.worst_lateness);
    gauges_ = fresh;
  }

  outcome_sink& sink_;
  epoll_reactor reactor_;
  courier_core core_; // with the providers, which use the reactor to the last
  courier_inbox inbox_;
  std::optional<boot_instant> stop_at_; ///< the courier's thread only
  std::mutex gauges_mutex_;
  courier_gauges gauges_;
  std::mutex stopping_;
  std::thread thread_; // last: it uses all of the above
};

courier::courier(courier_options options, outcome_sink& sink, const boot_time& clock)
    : impl_(std::make_unique<impl>(options, sink, clock)) {}

courier::~courier() {
  stop(nanoseconds{0});
}

void courier::add_route(route_id route, provider_factory make, call_instruments measured) {
  auto made = std::make_shared<std::promise<void>>();
  auto finished = made->get_future();
  auto* reactor = &impl_->shared_reactor();
  bool posted = impl_->post([route, reactor, made, make = std::move(make),
                             measured = std::move(measured)](courier_core& core) {
    try {
      core.add_route(route, make(*reactor), measured);
      made->set_value();
    } catch (...) {
      made->set_exception(std::current_exception());
    }
  });
  if (posted)
    finished.get();
}

void courier::submit(std::vector<send_order> orders) {
  auto shared = std::make_shared<std::vector<send_order>>(std::move(orders));
  if (impl_->post([shared](courier_core& core) { core.submit(std::move(*shared)); }))
    return;
  for (auto& order : *shared) {
    outcome result;
    result.of = order.message->of;
    result.kind = outcome_kind::not_started;
    result.reason = reason_code::node_stopping;
    auto shard = order.shard;
    std::vector<delivery> one;
    one.push_back(delivery{std::move(order), std::move(result)});
    impl_->sink().deliver(shard, std::move(one));
  }
}

void courier::set_deadline(shard_id shard, epoch_id epoch, boot_instant deadline) {
  impl_->post(
      [shard, epoch, deadline](courier_core& core) { core.set_deadline(shard, epoch, deadline); });
}

void courier::refuse_grids(route_id route, std::int64_t grid_number) {
  impl_->post([route, grid_number](courier_core& core) { core.refuse_grids(route, grid_number); });
}

void courier::stop_stream(stream_id stream) {
  impl_->post([stream](courier_core& core) { core.stop_stream(stream); });
}

void courier::allow_stream(stream_id stream) {
  impl_->post([stream](courier_core& core) { core.allow_stream(stream); });
}

void courier::purge(shard_id shard, reason_code reason) {
  impl_->post([shard, reason](courier_core& core) { core.purge(shard, reason); });
}

void courier::ask_quota(route_id route, provider::quota_function answered) {
  auto shared = std::make_shared<provider::quota_function>(std::move(answered));
  if (!impl_->post([route, shared](courier_core& core) { core.ask_quota(route, *shared); }))
    (*shared)(error{error_kind::unavailable, "the node stops"});
}

void courier::stop(nanoseconds patience) {
  impl_->stop(patience);
}

courier_gauges courier::gauges() const {
  return impl_->take_gauges();
}

} // namespace paceline
