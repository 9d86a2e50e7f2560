#include "transport/providers/smtp.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <utility>

#include "transport/providers/smtp_connection.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_waiting = 20'000;          ///< calls without a connection
constexpr std::size_t max_dialing = 16;              ///< at the same time
constexpr auto dial_again = std::chrono::seconds{1}; ///< after a failure
constexpr auto beat = std::chrono::milliseconds{100};

class smtp_provider final : public provider, public smtp_connection::owner {
public:
  smtp_provider(reactor& loop, smtp_options options);

  void start(call& what, answer_function answered) override;
  void ask_quota(quota_function answered) override;
  void ask_health(std::function<void(bool)> answered) override;

private:
  /// A call, or a question whether the server is well.
  struct waiter {
    call* what = nullptr;
    answer_function answered;
    std::function<void(bool)> probed;
  };

  void freed(smtp_connection& which) override;
  void ended(smtp_connection& which) override;
  void serve(smtp_connection& with);
  void dial_as_needed(std::size_t spare);
  void dial();
  void dialed(smtp_dialer::dialed what);
  void fail_waiting();
  void keep_beating();
  void on_beat();
  void drop_refused();
  std::size_t idle_count() const;
  std::function<void()> if_alive(void (smtp_provider::*then)());

  reactor& loop_;
  smtp_options options_;
  std::shared_ptr<smtp_provider*> self_; ///< for tasks, which may come after the end
  smtp_dialer dialer_;
  std::list<std::unique_ptr<smtp_connection>> connections_;
  std::list<std::unique_ptr<smtp_connection>> over_; ///< not in use, but perhaps on the stack
  std::deque<waiter> waiting_;
  std::size_t dialing_ = 0;
  boot_instant next_dial_{};
  provider_answer failure_; ///< why there is no connection
  bool beats_ = false;
};

smtp_provider::smtp_provider(reactor& loop, smtp_options options)
    : loop_(loop), options_(std::move(options)), self_(std::make_shared<smtp_provider*>(this)),
      dialer_(loop, options_) {
  for (auto count = std::min(options_.warm_connections, options_.max_connections); count > 0;
       --count)
    dial();
}

void smtp_provider::start(call& what, answer_function answered) {
  const bool is_down = connections_.empty() && dialing_ == 0 && loop_.now() < next_dial_;
  if (is_down || waiting_.size() >= max_waiting) {
    auto why = failure_;
    if (!is_down)
      why = answer_for_loss(smtp_stage::login, false, "too many messages wait for a connection");
    answered(std::move(why));
    return;
  }
  waiting_.push_back({&what, std::move(answered), {}});
  // The latest to become idle: the others may end.
  const auto free = std::find_if(connections_.rbegin(), connections_.rend(),
                                 [](const auto& each) { return each->is_idle(); });
  if (free != connections_.rend())
    serve(**free);
  dial_as_needed(1);
}

void smtp_provider::ask_quota(quota_function answered) {
  quota_reading reading;
  reading.max_send_rate = options_.quota;
  answered(reading);
}

void smtp_provider::ask_health(std::function<void(bool)> answered) {
  waiting_.push_front({nullptr, {}, std::move(answered)});
  const auto free = std::find_if(connections_.begin(), connections_.end(),
                                 [](const auto& each) { return each->is_idle(); });
  if (free != connections_.end())
    return serve(**free);
  if (connections_.empty() && dialing_ == 0)
    next_dial_ = {}; // this is the question
  dial_as_needed(0);
}

/// Gives the connection what has waited longest.
void smtp_provider::serve(smtp_connection& with) {
  while (with.is_idle() && !waiting_.empty()) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next.probed)
      with.probe(std::move(next.probed));
    else
      with.carry(*next.what, std::move(next.answered));
  }
}

void smtp_provider::freed(smtp_connection& which) {
  if (which.carried() >= options_.messages_per_connection) {
    which.quit();
    return;
  }
  serve(which);
}

void smtp_provider::ended(smtp_connection& which) {
  const auto found = std::find_if(connections_.begin(), connections_.end(),
                                  [&which](const auto& each) { return each.get() == &which; });
  if (found == connections_.end())
    return;
  over_.splice(over_.end(), connections_, found);
  dial_as_needed(0);
}

std::size_t smtp_provider::idle_count() const {
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(),
                                                [](const auto& each) { return each->is_idle(); }));
}

/// As many connections as wait, and `spare` beyond them.
void smtp_provider::dial_as_needed(std::size_t spare) {
  keep_beating();
  if (loop_.now() < next_dial_)
    return;
  const auto wanted = waiting_.size() + spare;
  const auto most = static_cast<std::size_t>(std::max(1, options_.max_connections));
  auto coming = idle_count() + dialing_;
  while (coming < wanted && dialing_ < max_dialing && connections_.size() + dialing_ < most) {
    dial();
    ++coming;
  }
}

void smtp_provider::dial() {
  ++dialing_;
  keep_beating();
  dialer_.dial([weak = std::weak_ptr{self_}](smtp_dialer::dialed what) {
    if (const auto self = weak.lock())
      (*self)->dialed(std::move(what));
  });
}

void smtp_provider::dialed(smtp_dialer::dialed what) {
  --dialing_;
  if (auto* link = std::get_if<std::unique_ptr<smtp_link>>(&what)) {
    connections_.push_back(std::make_unique<smtp_connection>(loop_, std::move(*link), *this));
    next_dial_ = {};
    serve(*connections_.back());
    return;
  }
  failure_ = std::get<provider_answer>(std::move(what));
  next_dial_ = loop_.now() + dial_again;
  // With connections left the messages wait for those: the server may have a limit below ours.
  if (connections_.empty() && dialing_ == 0)
    fail_waiting();
}

void smtp_provider::fail_waiting() {
  auto failing = std::exchange(waiting_, {});
  for (auto& each : failing) {
    if (each.probed)
      each.probed(false);
    else
      each.answered(failure_);
  }
}

std::function<void()> smtp_provider::if_alive(void (smtp_provider::*then)()) {
  return [weak = std::weak_ptr{self_}, then] {
    if (const auto self = weak.lock())
      ((*self)->*then)();
  };
}

void smtp_provider::keep_beating() {
  if (std::exchange(beats_, true))
    return;
  loop_.at(loop_.now() + beat, if_alive(&smtp_provider::on_beat));
}

/// Ends what has taken too long or is not needed, and tries again where messages wait.
void smtp_provider::on_beat() {
  beats_ = false;
  over_.clear();
  const auto now = loop_.now();
  std::vector<smtp_connection*> stale;
  for (const auto& each : connections_)
    if (now - each->since() > (each->is_idle() ? options_.idle_timeout : options_.total_timeout))
      stale.push_back(each.get());
  for (auto* each : stale)
    each->is_idle() ? each->quit() : each->give_up();
  drop_refused();
  if (!waiting_.empty())
    dial_as_needed(0);
  if (!connections_.empty() || !over_.empty() || dialing_ > 0 || !waiting_.empty())
    keep_beating();
}

/// Calls whose time is over need not wait for a connection to hear that.
void smtp_provider::drop_refused() {
  std::deque<waiter> kept, dropped;
  for (auto& each : waiting_)
    (each.what != nullptr && each.what->is_refused() ? dropped : kept).push_back(std::move(each));
  waiting_ = std::move(kept);
  for (auto& each : dropped) {
    each.what->may_write(); // says no, and the call remembers why
    provider_answer late;
    late.kind = outcome_kind::not_started;
    late.reason = reason_code::slot_missed;
    each.answered(std::move(late));
  }
}

} // namespace

std::unique_ptr<provider> make_smtp_provider(reactor& loop, smtp_options options) {
  return std::make_unique<smtp_provider>(loop, std::move(options));
}

} // namespace paceline
