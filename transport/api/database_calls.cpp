#include "transport/api/database_calls.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace paceline {
namespace {

/// Shared by the waiting thread and the pool's: whoever comes later finds what the other did.
struct exchange {
  std::mutex mutex;
  std::condition_variable changed;
  bool started = false, ended = false, abandoned = false;
  std::optional<error> failed;
};

} // namespace

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
    if (on != nullptr)
      work(*on);
    const std::lock_guard lock{shared->mutex};
    if (on == nullptr)
      shared->failed = why;
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
