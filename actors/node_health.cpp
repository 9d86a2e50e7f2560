#include "actors/node_health.hpp"

#include <utility>

#include "storage/ownership.hpp"

namespace paceline {
namespace {

constexpr nanoseconds fresh = std::chrono::milliseconds{500};
constexpr std::chrono::seconds patience{1};
constexpr nanoseconds longest_silence = std::chrono::seconds{30};

} // namespace

/// One question to the database.
struct node_health::probe {
  explicit probe(boot_instant begun) : asked(begun) {}

  const boot_instant asked;
  std::mutex mutex;
  std::condition_variable answered;
  bool is_over = false, is_fine = false;

  void answer(bool fine) {
    std::lock_guard lock(mutex);
    is_over = true;
    is_fine = fine;
    answered.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex);
    answered.wait_for(lock, patience, [this] { return is_over; });
    return is_fine;
  }
};

node_health::node_health(const boot_time& time) : time_(time), beaten_(time.now()) {}

void node_health::use(database_pool& pool) {
  std::lock_guard lock(mutex_);
  pool_ = &pool;
}

void node_health::set_draining() {
  std::lock_guard lock(mutex_);
  is_draining_ = true;
}

void node_health::beat() {
  std::lock_guard lock(mutex_);
  beaten_ = time_.now();
}

bool node_health::database_answers() {
  std::shared_ptr<probe> asked;
  {
    std::lock_guard lock(mutex_);
    if (!pool_ || is_draining_)
      return false;
    if (!last_ || time_.now() - last_->asked > fresh) {
      last_ = std::make_shared<probe>(time_.now());
      auto ask = [mine = last_](session* on, const error&) { mine->answer(on && read_clock(*on)); };
      if (!pool_->submit(std::move(ask)))
        last_->answer(false);
    }
    asked = last_;
  }
  return asked->wait();
}

health node_health::look() {
  health now;
  {
    std::lock_guard lock(mutex_);
    now.is_live = time_.now() - beaten_ < longest_silence;
    if (is_draining_)
      now.reasons.emplace_back("the node is draining");
    else if (!pool_)
      now.reasons.emplace_back("the node is starting");
  }
  if (!now.is_live)
    now.reasons.emplace_back("the actors have stood still for 30 s");
  if (now.reasons.empty() && !database_answers())
    now.reasons.emplace_back("the database does not answer");
  now.is_ready = now.reasons.empty();
  return now;
}

} // namespace paceline
