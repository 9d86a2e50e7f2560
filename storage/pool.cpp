#include "storage/pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <thread>
#include <vector>

#include "storage/model/instants.hpp"
#include "storage/session.hpp"

namespace paceline {

void statement_counts::add(std::string_view query, std::chrono::nanoseconds time, bool failed) {
  const std::lock_guard lock{mutex_};
  auto found = entries_.find(query);
  if (found == entries_.end())
    found = entries_.emplace(std::string{query}, entry{}).first;
  ++found->second.statements;
  found->second.errors += failed ? 1 : 0;
  found->second.time += time;
}

std::uint64_t statement_counts::total() const {
  const std::lock_guard lock{mutex_};
  std::uint64_t sum = 0;
  for (const auto& [query, counted] : entries_)
    sum += counted.statements;
  return sum;
}

std::map<std::string, statement_counts::entry, std::less<>> statement_counts::snapshot() const {
  const std::lock_guard lock{mutex_};
  return entries_;
}

namespace {

/// One thread's connection: opened when needed, thrown away when broken, not tried again before a
/// pause that doubles.
class kept_session {
public:
  kept_session(const connection_options& options, statement_counts& counts)
      : options_(options), counts_(counts) {}

  /// nullptr: none to be had now; `why()` says why.
  session* get() {
    if (session_ && (session_->is_broken() || !session_->looks_alive()))
      session_.reset();
    if (!session_ && boot_clock::now() >= next_try_)
      open();
    return session_.get();
  }
  const error& why() const { return why_; }

private:
  static constexpr nanoseconds first_pause = std::chrono::milliseconds{50};
  static constexpr nanoseconds longest_pause = std::chrono::seconds{1};

  void open() {
    auto opened = session::open(options_, counts_);
    if (opened) {
      session_ = std::move(*opened);
      pause_ = first_pause;
      return;
    }
    why_ = opened.failure();
    next_try_ = boot_clock::now() + pause_;
    pause_ = std::min(2 * pause_, longest_pause);
  }

  const connection_options& options_;
  statement_counts& counts_;
  std::unique_ptr<session> session_;
  error why_;
  boot_instant next_try_{};
  nanoseconds pause_ = first_pause;
};

} // namespace

class database_pool::impl {
public:
  impl(connection_options options, int connections, std::size_t max_queued,
       statement_counts& counts)
      : options_(std::move(options)), counts_(counts), max_queued_(max_queued) {
    threads_.reserve(static_cast<std::size_t>(connections));
    for (int i = 0; i < connections; ++i)
      threads_.emplace_back([this] { serve(); });
  }

  bool submit(work task) {
    {
      const std::lock_guard lock{mutex_};
      if (stopping_ || queue_.size() >= max_queued_)
        return false;
      queue_.push_back(std::move(task));
    }
    ready_.notify_one();
    return true;
  }

  void stop() {
    {
      const std::lock_guard lock{mutex_};
      stopping_ = true;
    }
    ready_.notify_all();
    for (auto& thread : threads_)
      if (thread.joinable())
        thread.join();
  }

  std::size_t queued() const {
    const std::lock_guard lock{mutex_};
    return queue_.size();
  }
  int busy() const { return busy_.load(std::memory_order_relaxed); }
  int connections() const { return static_cast<int>(threads_.size()); }

private:
  /// Nothing: stopping, and the queue is empty.
  std::optional<work> next() {
    std::unique_lock lock{mutex_};
    ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty())
      return std::nullopt;
    auto task = std::move(queue_.front());
    queue_.pop_front();
    return task;
  }

  void serve() {
    kept_session kept{options_, counts_};
    while (auto task = next()) {
      busy_.fetch_add(1, std::memory_order_relaxed);
      auto* const session = kept.get();
      (*task)(session, session != nullptr ? error{} : kept.why());
      busy_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  const connection_options options_;
  statement_counts& counts_;
  const std::size_t max_queued_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<work> queue_;
  bool stopping_ = false;
  std::atomic<int> busy_{0};
  std::vector<std::thread> threads_;
};

database_pool::database_pool(connection_options options, int connections, std::size_t max_queued,
                             statement_counts& counts)
    : impl_(std::make_unique<impl>(std::move(options), std::clamp(connections, 1, 8), max_queued,
                                   counts)) {}

database_pool::~database_pool() {
  stop();
}

bool database_pool::submit(work task) {
  return impl_->submit(std::move(task));
}

void database_pool::stop() {
  impl_->stop();
}

std::size_t database_pool::queued() const {
  return impl_->queued();
}

int database_pool::busy() const {
  return impl_->busy();
}

int database_pool::connections() const {
  return impl_->connections();
}

result<single_connection> single_connection::open(const connection_options& options,
                                                  statement_counts& counts) {
  auto opened = session::open(options, counts);
  if (!opened)
    return opened.failure();
  return single_connection{std::move(*opened)};
}

single_connection::single_connection(std::unique_ptr<session> opened)
    : session_(std::move(opened)) {}
single_connection::single_connection(single_connection&&) noexcept = default;
single_connection& single_connection::operator=(single_connection&&) noexcept = default;
single_connection::~single_connection() = default;

} // namespace paceline
