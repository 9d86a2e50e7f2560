#include "transport/api/database_calls.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace paceline {
namespace {

/// Shared by the waiting thread and the pool's: whoever comes later finds what the other did.
struct exchange {
  std::mutex mutex;
  std::condition_variable changed;
  bool started = false, ended = false, abandoned = false;
  std::optional<error> failed;
};

/// An exception must not reach the pool's thread: it would end the process.
std::optional<error> run_safely(const std::function<void(session&)>& work, session& on) {
  try {
    work(on);
    return std::nullopt;
  } catch (const std::exception& thrown) {
    return error{error_kind::internal, std::string{"database work has thrown: "} + thrown.what()};
  }
}

} // namespace

database_calls::database_calls(database_pool& pool, std::chrono::milliseconds longest_wait)
    : pool_(pool), longest_wait_(longest_wait), slow_places_(std::max(1, pool.connections() - 1)) {}

std::optional<error> database_calls::call(const std::function<void(session&)>& work) {
  const auto shared = std::make_shared<exchange>();
  // The reference is not followed once `abandoned` is set, which is when this frame ends.
  const auto submitted = pool_.submit([shared, &work](session* on, const error& why) {
    {
      const std::lock_guard lock{shared->mutex};
      if (shared->abandoned)
        return;
      shared->started = true;
    }
    auto failed = on == nullptr ? std::optional{why} : run_safely(work, *on);
    const std::lock_guard lock{shared->mutex};
    shared->failed = std::move(failed);
    shared->ended = true;
    shared->changed.notify_one();
  });
  if (!submitted)
    return error{error_kind::overloaded, "Too much waits for the database. Try again in a moment."};
  std::unique_lock lock{shared->mutex};
  const bool in_time = shared->changed.wait_for(
      lock, longest_wait_, [&shared] { return shared->started || shared->ended; });
  if (!in_time) {
    shared->abandoned = true;
    return error{error_kind::overloaded,
                 "No database connection was free in time. Try again in a moment."};
  }
  shared->changed.wait(lock, [&shared] { return shared->ended; });
  return shared->failed;
}

} // namespace paceline
