#include "tools/benchmarks/ses_floor.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/floor_loop.hpp"
#include "tools/benchmarks/memory.hpp"

namespace paceline::bench {
namespace {

constexpr int claimers = 2, recorders = 2;
constexpr std::size_t most_waiting = 2000; ///< claimed and not started
constexpr std::size_t group = 100;

/// Between the threads: what is claimed, what is accepted.
class exchange {
public:
  /// Waits while there is no room. False once somebody has failed.
  bool put(std::vector<floor_message> claimed) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failure_ || claimed_.size() < most_waiting; });
    for (auto& one : claimed)
      claimed_.push_back(std::move(one));
    return !failure_;
  }

  std::optional<floor_message> next() {
    const std::lock_guard lock(mutex_);
    if (failure_)
      std::rethrow_exception(failure_);
    if (claimed_.empty())
      return std::nullopt;
    auto one = std::move(claimed_.front());
    claimed_.pop_front();
    if (claimed_.size() + 1 == most_waiting)
      changed_.notify_all();
    return one;
  }

  void accept(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    accepted_.push_back(id);
    if (accepted_.size() >= group)
      changed_.notify_all();
  }

  /// Up to a group; fewer after a quarter of a second, or at the end. Empty: it is over.
  std::vector<std::int64_t> take_accepted() {
    std::unique_lock lock(mutex_);
    while (!failure_ && !(is_over_ && accepted_.empty())) {
      changed_.wait_for(lock, std::chrono::milliseconds{250},
                        [this] { return failure_ || is_over_ || accepted_.size() >= group; });
      const auto count = std::min(group, accepted_.size());
      if (count == 0)
        continue;
      const auto end = accepted_.begin() + static_cast<std::ptrdiff_t>(count);
      std::vector<std::int64_t> ids(accepted_.begin(), end);
      accepted_.erase(accepted_.begin(), end);
      return ids;
    }
    return {};
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  void fail(std::exception_ptr why) {
    const std::lock_guard lock(mutex_);
    failure_ = why;
    changed_.notify_all();
  }
  void check() {
    const std::lock_guard lock(mutex_);
    if (failure_)
      std::rethrow_exception(failure_);
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<floor_message> claimed_;
  std::deque<std::int64_t> accepted_;
  bool is_over_ = false;
  std::exception_ptr failure_;
};

using queries = std::map<std::string, std::string>;

void claim_all(const std::string& dsn, const queries& from, int index, exchange& to) {
  database on(dsn);
  // As Paceline's own sessions have it; the queries say why.
  on.run("SET plan_cache_mode = force_generic_plan");
  for (const char* name : {"floor_reserve", "floor_claim"})
    on.prepare(name, from.at(name));
  const auto count = std::to_string(claimers), own = std::to_string(index),
             size = std::to_string(group);
  std::string due = "-infinity", last = "0";
  while (true) {
    const auto found = on.run_prepared(
        "floor_reserve", {due.c_str(), last.c_str(), count.c_str(), own.c_str(), size.c_str()});
    if (found.count() == 0)
      return;
    due = found.text(found.count() - 1, 2);
    last = found.text(found.count() - 1, 0);
    std::string ids;
    std::vector<floor_message> claimed;
    for (int i = 0; i < found.count(); ++i) {
      ids.append(i == 0 ? "{" : ",").append(found.text(i, 0));
      std::string recipient = found.text(i, 3); // {user1@example.com}
      claimed.push_back({found.integer(i, 0), recipient.substr(1, recipient.size() - 2)});
    }
    on.run_prepared("floor_claim", {ids.append("}").c_str()});
    if (!to.put(std::move(claimed)))
      return;
  }
}

void record_all(const std::string& dsn, const queries& from, exchange& of) {
  database on(dsn);
  on.run("SET plan_cache_mode = force_generic_plan");
  on.prepare("floor_record", from.at("floor_record"));
  for (auto ids = of.take_accepted(); !ids.empty(); ids = of.take_accepted()) {
    std::string numbers, names;
    for (const auto id : ids) {
      const auto text = std::to_string(id);
      numbers.append(numbers.empty() ? "{" : ",").append(text);
      names.append(names.empty() ? "{floor-" : ",floor-").append(text);
    }
    on.run_prepared("floor_record", {numbers.append("}").c_str(), names.append("}").c_str()});
  }
}

std::string filled(std::string text, std::int64_t messages) {
  for (auto at = text.find("%1"); at != std::string::npos; at = text.find("%1", at))
    text.replace(at, 2, std::to_string(messages));
  return text;
}

} // namespace

ses_floor_result run_ses_floor(cluster& on, const transfer_settings& to, std::int64_t messages) {
  std::ifstream file(PACELINE_SOURCE_DIR "/tools/benchmarks/floor.sql");
  const auto named = named_blocks(std::string{std::istreambuf_iterator<char>(file), {}});
  const auto dsn = on.create_database();
  database watcher(dsn);
  watcher.run(named.at("floor_tables"));
  watcher.run(filled(named.at("floor_fill"), messages));
  on.settle();
  exchange between;
  const auto cpu_before = cpu_seconds_of(::getpid());
  const auto guarded = [&between](const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      between.fail(std::current_exception());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < claimers; ++i)
    threads.emplace_back([&guarded, &dsn, &named, &between, i] {
      guarded([&dsn, &named, &between, i] { claim_all(dsn, named, i, between); });
    });
  for (int i = 0; i < recorders; ++i)
    threads.emplace_back([&guarded, &dsn, &named, &between] {
      guarded([&dsn, &named, &between] { record_all(dsn, named, between); });
    });
  guarded([&between, &to, messages] {
    run_transfers(to, messages,
                  {[&between] { return between.next(); },
                   [&between](std::int64_t id) { between.accept(id); }});
  });
  between.finish();
  for (auto& thread : threads)
    thread.join();
  between.check();
  const auto cpu = cpu_seconds_of(::getpid()) - cpu_before;
  const auto recorded =
      watcher.run("SELECT count(*) FROM message_states WHERE status = 3").integer(0, 0);
  if (recorded != messages)
    throw std::runtime_error("the floor recorded " + std::to_string(recorded) + " of "
                             + std::to_string(messages) + " messages");
  return {cpu * 1e6 / static_cast<double>(messages)};
}

} // namespace paceline::bench
