/// Fakes around the courier's core: a reactor in virtual time, a provider that does what the test
/// says, and a sink that remembers.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "transport/courier_core.hpp"
#include "transport/timer_heap.hpp"

namespace paceline::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

class virtual_reactor final : public reactor {
public:
  boot_instant now() const override { return now_; }
  void at(boot_instant when, std::function<void()> task) override {
    timers_.add(when, std::move(task));
  }
  void watch(int, std::uint32_t, std::function<void(std::uint32_t)>) override {}

  /// Lets the time pass, with every timer at its instant.
  void pass_to(boot_instant until) {
    while (auto next = timers_.next()) {
      if (*next > until)
        break;
      now_ = std::max(now_, *next);
      timers_.run_due(now_, 1);
    }
    now_ = std::max(now_, until);
  }
  std::optional<boot_instant> next_timer() const { return timers_.next(); }

private:
  boot_instant now_{seconds{1000}};
  timer_heap timers_;
};

/// Keeps each call until the test answers it.
class held_provider final : public provider {
public:
  struct held {
    call* what = nullptr;
    answer_function answered;
  };
  /// Asks for permission at once unless the test wants to do that itself.
  bool asks_at_once = true;
  std::vector<held> calls;
  std::size_t started = 0;

  void start(call& what, answer_function answered) override {
    ++started;
    if (asks_at_once && !what.may_write()) {
      provider_answer refused;
      refused.kind = outcome_kind::not_started;
      answered(std::move(refused));
      return;
    }
    calls.push_back(held{&what, std::move(answered)});
  }
  void ask_quota(quota_function answered) override {
    answered(quota_reading{rate::per_second(10), -1, 0});
  }

  void answer(std::size_t index, outcome_kind kind) {
    provider_answer given;
    given.kind = kind;
    calls.at(index).answered(std::move(given));
  }
};

class collecting_sink final : public outcome_sink {
public:
  void deliver(shard_id shard, std::vector<delivery> outcomes) override {
    batches.emplace_back(shard, outcomes.size());
    for (auto& one : outcomes)
      all.push_back(std::move(one));
  }
  std::vector<delivery> all;
  std::vector<std::pair<shard_id, std::size_t>> batches;

  std::map<std::int64_t, std::size_t> count_by_message() const {
    std::map<std::int64_t, std::size_t> counts;
    for (const auto& one : all)
      ++counts[one.result.of.message.value()];
    return counts;
  }
};

inline std::shared_ptr<outgoing_message> message_to(std::int64_t id, std::string recipient) {
  auto message = std::make_shared<outgoing_message>();
  message->of = attempt{message_id{id}, 0};
  message->sender = "news@example.com";
  message->recipients.push_back(std::move(recipient));
  return message;
}

/// A core with one route and one shard that owns itself for an hour.
struct courier_bench {
  virtual_reactor loop;
  collecting_sink sink;
  courier_core core;
  held_provider* provider = nullptr;

  explicit courier_bench(courier_options options = {}, call_instruments measured = {})
      : core(options, sink, loop) {
    auto made = std::make_unique<held_provider>();
    provider = made.get();
    core.add_route(route_id{1}, std::move(made), std::move(measured));
    core.set_deadline(shard_id{1}, epoch_id{1}, loop.now() + std::chrono::hours{1});
  }

  send_order order(std::int64_t id, nanoseconds from_now) const {
    send_order one;
    one.shard = shard_id{1};
    one.epoch = epoch_id{1};
    one.route = route_id{1};
    one.stream = stream_id{1};
    one.grid_number = 1;
    one.at = loop.now() + from_now;
    one.latest = one.at + milliseconds{5};
    one.slot = database_instant{seconds{5'000'000}};
    one.message = message_to(id, "anna@example.com");
    return one;
  }

  void submit(send_order one) {
    std::vector<send_order> orders;
    orders.push_back(std::move(one));
    core.submit(std::move(orders));
  }

  /// Lets time pass as the courier's thread would: from event to event.
  void pass(nanoseconds span) {
    auto until = loop.now() + span;
    while (true) {
      core.advance();
      auto next = core.next_event();
      if (auto timer = loop.next_timer(); timer && (!next || *timer < *next))
        next = timer;
      if (!next || *next > until)
        break;
      loop.pass_to(*next);
    }
    loop.pass_to(until);
    core.advance();
  }

  const outcome& last() const { return sink.all.back().result; }
};

} // namespace paceline::test
