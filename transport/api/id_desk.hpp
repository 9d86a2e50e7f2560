/// Fresh ids for many threads.
#pragma once

#include <cstdint>
#include <mutex>

#include "storage/intake.hpp"
#include "storage/model/ids.hpp"

namespace paceline {

/// Thread-safe.
class id_desk {
public:
  /// `lane` as for id_source; nobody else in this process may use it.
  explicit id_desk(std::int32_t lane) : source_(lane) {}

  std::int64_t next();
  /// Gives every content and message of the call a fresh id.
  void give_ids(intake_call& call);
  /// Runs `work(id_source&)` while nobody else takes an id; it must be quick or seldom.
  template <class F>
  auto with_source(F&& work) {
    const std::lock_guard lock{mutex_};
    return work(source_);
  }

private:
  std::mutex mutex_;
  id_source source_;
};

} // namespace paceline
