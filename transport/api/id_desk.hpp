/// Fresh ids for many threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>

#include "storage/intake.hpp"
#include "storage/model/ids.hpp"
#include "storage/ownership.hpp"

namespace paceline {

/// Thread-safe.
class id_desk {
public:
  /// `lane` as for id_source; nobody else in this process may use it.
  explicit id_desk(std::int32_t lane) : source_(lane) {}

  std::int64_t next();
  /// Gives every content and message of the call a fresh id.
  void give_ids(intake_call& call);

private:
  std::mutex mutex_;
  id_source source_;
};

/// Ids for work that makes its own while it stores. Has a lane of its own, so that nobody who only
/// needs an id waits for that work. Thread-safe.
class slow_id_desk {
public:
  /// Runs `work(id_source&)`, which returns a result, while nobody else has the source. Errors: of
  /// the work, or of getting a lane for the first time.
  template <class F>
  auto with_source(session& on, F&& work) -> std::invoke_result_t<F, id_source&> {
    const std::lock_guard lock{mutex_};
    if (!source_) {
      const auto lane = next_id_lane(on);
      if (!lane)
        return lane.failure();
      source_.emplace(*lane);
    }
    return work(*source_);
  }

private:
  std::mutex mutex_;
  std::optional<id_source> source_;
};

} // namespace paceline
