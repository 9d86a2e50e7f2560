/// The limits of keys and projects, for many threads at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "storage/keys.hpp"
#include "transport/api/outstanding_tally.hpp"
#include "transport/api/sliding_window.hpp"

namespace paceline {

/// `limit_per_minute` of every key. Thread-safe. A node counts for itself.
class rate_limits {
public:
  static constexpr std::size_t most_keys = 10'000;

  /// Zero: `count` were taken. Otherwise nothing was, and they fit after so long
  /// (`sliding_window::never`: they are more than the limit).
  nanoseconds take(const api_key& key, std::int64_t count, boot_instant now);
  /// How long until `count` fit; takes nothing.
  nanoseconds wait_for(const api_key& key, std::int64_t count, boot_instant now);

private:
  sliding_window* window_of(const api_key& key, boot_instant now);

  std::mutex mutex_;
  std::unordered_map<key_id, sliding_window> windows_;
};

/// `max_outstanding` of every project and environment. Thread-safe.
class outstanding_limits {
public:
  /// Asks the database (see outstanding_messages); blocks.
  using ask_function = std::function<result<std::int64_t>(project_id, const std::string&)>;
  using answer_function = std::function<void(const result<std::int64_t>&)>;
  /// Has it asked without waiting; `answered` is called on another thread, once. False: it won't
  /// be.
  using start_function =
      std::function<bool(project_id, const std::string&, answer_function answered)>;

  outstanding_limits(ask_function ask, start_function start)
      : ask_(std::move(ask)), start_(std::move(start)) {}
  ~outstanding_limits(); ///< waits for open questions
  outstanding_limits(const outstanding_limits&) = delete;
  outstanding_limits& operator=(const outstanding_limits&) = delete;

  /// A place for messages that are being stored. Released where it was not settled.
  class place {
  public:
    place(outstanding_limits& of, void* tally, std::int64_t count)
        : of_(&of), tally_(tally), count_(count) {}
    place(place&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), tally_(other.tally_), count_(other.count_) {}
    place& operator=(place&&) = delete;
    ~place();
    void settle(); ///< they are stored, or may be

  private:
    outstanding_limits* of_;
    void* tally_;
    std::int64_t count_;
  };

  /// Nothing: there is no room, which the database has confirmed. Error: it could not be asked.
  result<std::optional<place>> reserve(const api_key& key, std::int64_t count);

private:
  struct entry {
    outstanding_tally tally;
    std::uint64_t questions = 0;  ///< begun
    std::uint64_t answers = 0;    ///< the last question that was answered or failed
    std::optional<error> failure; ///< of the last answer
  };
  entry& entry_of(const api_key& key);
  std::optional<error> refresh(std::unique_lock<std::mutex>& lock, entry& of, const api_key& key);
  void refresh_aside(entry& of, const api_key& key);
  void take_answer(entry& of, std::uint64_t number, const result<std::int64_t>& answer);

  const ask_function ask_;
  const start_function start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  /// One per project and environment that has sent; they are few and stay.
  std::map<std::pair<std::int64_t, std::string>, entry> entries_;
};

} // namespace paceline
