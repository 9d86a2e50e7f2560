/// A provider on a real reactor, its calls, and their answers, for tests with real sockets.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "transport/epoll_reactor.hpp"
#include "transport/providers/provider.hpp"

namespace paceline::test {

/// A call whose permission the test decides about.
class staged_call final : public call {
public:
  staged_call(outgoing_message of, database_instant slot) : of_(std::move(of)), slot_(slot) {}

  const outgoing_message& message() const override { return of_; }
  bool may_write() override {
    ++asked;
    written = asked == 1 && is_allowed;
    return written;
  }
  bool is_refused() const override { return asked > 0 || !is_allowed; }
  database_instant slot() const override { return slot_; }
  database_instant started_at() const override { return slot_; }

  bool is_allowed = true;
  int asked = 0; ///< how often `may_write` was
  bool written = false;
  int answers = 0;
  provider_answer answer; ///< the latest

private:
  outgoing_message of_;
  database_instant slot_;
};

class provider_stage {
public:
  /// `make` gets the reactor.
  template <class Make>
  explicit provider_stage(Make&& make) : sends(make(loop)) {}

  staged_call& start(outgoing_message of, database_instant slot = {}, bool is_allowed = true) {
    auto& made = calls.emplace_back(std::move(of), slot);
    made.is_allowed = is_allowed;
    hand_over(made);
    return made;
  }

  /// Starts it alone and runs until it was answered.
  provider_answer send(outgoing_message of) {
    auto& made = start(std::move(of));
    sends->flush();
    return answer_of(made);
  }

  provider_answer answer_of(const staged_call& made) {
    if (!run_until([&made] { return made.answers > 0; }))
      throw std::runtime_error("no answer for a long while");
    return made.answer;
  }

  bool is_healthy() {
    std::optional<bool> told;
    sends->ask_health([&told](bool healthy) { told = healthy; });
    if (!run_until([&told] { return told.has_value(); }))
      throw std::runtime_error("no answer for a long while");
    return *told;
  }

  /// False after a long while.
  bool run_until(const std::function<bool()>& done) {
    const auto give_up = clock.now() + std::chrono::seconds{20};
    while (!done() && clock.now() < give_up) {
      loop.wait(clock.now() + std::chrono::milliseconds{20}); // what is awaited may be elsewhere
      loop.run_timers();
    }
    return done();
  }

  machine_boot_time clock;
  epoll_reactor loop{clock};
  std::list<staged_call> calls;
  std::unique_ptr<provider> sends;

private:
  /// As the dispatcher does, a call that found no free connection is handed over again.
  void hand_over(staged_call& what) {
    sends->start(what, [this, &what](provider_answer answer) {
      if (answer.diagnostic == no_free_connection().diagnostic)
        return come_again(what);
      ++what.answers;
      what.answer = std::move(answer);
    });
  }

  void come_again(staged_call& what) {
    again_.push_back(&what);
    if (again_.size() > 1)
      return;
    loop.at(clock.now() + std::chrono::milliseconds{2}, [this] {
      for (auto* each : std::exchange(again_, {}))
        hand_over(*each);
      sends->flush();
    });
  }

  std::vector<staged_call*> again_; ///< waiting for another turn
};

} // namespace paceline::test
