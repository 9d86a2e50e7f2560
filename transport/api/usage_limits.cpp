#include "transport/api/usage_limits.hpp"

#include <algorithm>
#include <chrono>

namespace paceline {
namespace {

/// What is being stored may be in the database's answer or not. Waiting for it keeps a refusal
/// exact; it is bounded by what a statement normally takes.
constexpr std::chrono::seconds storing_patience{2};

} // namespace

/// nullptr: the key has no limit.
sliding_window* rate_limits::window_of(const api_key& key, boot_instant now) {
  if (!key.limit_per_minute)
    return nullptr;
  if (windows_.size() >= most_keys && !windows_.contains(key.id))
    std::erase_if(windows_, [now](auto& each) { return each.second.is_empty(now); });
  auto& window = windows_.try_emplace(key.id, sliding_window{*key.limit_per_minute}).first->second;
  window.set_limit(*key.limit_per_minute);
  return &window;
}

nanoseconds rate_limits::take(const api_key& key, std::int64_t count, boot_instant now) {
  const std::lock_guard lock{mutex_};
  auto* const window = window_of(key, now);
  if (window == nullptr || window->take(count, now))
    return nanoseconds{0};
  return window->wait_for(count, now);
}

nanoseconds rate_limits::wait_for(const api_key& key, std::int64_t count, boot_instant now) {
  const std::lock_guard lock{mutex_};
  auto* const window = window_of(key, now);
  return window == nullptr ? nanoseconds{0} : window->wait_for(count, now);
}

outstanding_limits::entry& outstanding_limits::entry_of(const api_key& key) {
  return entries_[{key.project.value(), key.environment}];
}

result<std::optional<outstanding_limits::place>> outstanding_limits::reserve(const api_key& key,
                                                                             std::int64_t count) {
  std::unique_lock lock{mutex_};
  auto& of = entry_of(key);
  if (!of.tally.is_known())
    if (auto failed = refresh(lock, of, key))
      return *failed;
  if (!of.tally.reserve(count, key.max_outstanding)) {
    // What others are storing right now would be counted twice.
    changed_.wait_for(lock, storing_patience, [&of] { return of.tally.storing() == 0; });
    if (auto failed = refresh(lock, of, key))
      return *failed;
    if (!of.tally.reserve(count, key.max_outstanding))
      return std::optional<place>{};
  } else if (of.tally.is_old(boot_clock::now()) && !of.tally.is_asking()) {
    refresh_aside(of, key);
  }
  return std::optional<place>{std::in_place, *this, &of, count};
}

/// Returns once a question that began after the call is answered; those who wait share it.
std::optional<error> outstanding_limits::refresh(std::unique_lock<std::mutex>& lock, entry& of,
                                                 const api_key& key) {
  const auto wanted = of.questions + 1;
  while (of.answers < wanted) {
    if (of.tally.is_asking()) {
      changed_.wait(lock);
      continue;
    }
    const auto number = ++of.questions;
    of.tally.begin_asking(boot_clock::now());
    lock.unlock();
    const auto answer = ask_(key.project, key.environment);
    lock.lock();
    take_answer(of, number, answer);
  }
  return of.failure;
}

/// Called with the lock held.
void outstanding_limits::take_answer(entry& of, std::uint64_t number,
                                     const result<std::int64_t>& answer) {
  of.failure.reset();
  if (answer)
    of.tally.end_asking(*answer);
  else {
    of.tally.fail_asking();
    of.failure = answer.failure();
  }
  of.answers = number;
  changed_.notify_all();
}

/// Called with the lock held; nobody waits for the answer.
void outstanding_limits::refresh_aside(entry& of, const api_key& key) {
  const auto number = ++of.questions;
  of.tally.begin_asking(boot_clock::now());
  const bool started =
      start_(key.project, key.environment, [this, &of, number](const result<std::int64_t>& answer) {
        const std::lock_guard lock{mutex_};
        take_answer(of, number, answer);
      });
  if (!started)
    take_answer(of, number, error{error_kind::overloaded, "Too much waits for the database."});
}

outstanding_limits::~outstanding_limits() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] {
    return std::none_of(entries_.begin(), entries_.end(),
                        [](const auto& each) { return each.second.tally.is_asking(); });
  });
}

outstanding_limits::place::~place() {
  if (of_ == nullptr)
    return;
  const std::lock_guard lock{of_->mutex_};
  static_cast<entry*>(tally_)->tally.release(count_);
  of_->changed_.notify_all();
}

void outstanding_limits::place::settle() {
  if (auto* const of = std::exchange(of_, nullptr)) {
    const std::lock_guard lock{of->mutex_};
    static_cast<entry*>(tally_)->tally.settle(count_);
    of->changed_.notify_all();
  }
}

} // namespace paceline
