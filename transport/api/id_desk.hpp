/// Fresh ids for many threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

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

/// Sources of ids for work that makes its own while it stores. Each is lent to one piece of work at
/// a time and has a lane of its own, so that nobody waits for somebody else's work; there are as
/// many as have ever worked at once, which the database's connections bound. Thread-safe.
class lent_ids {
public:
  /// Runs `work(id_source&)`, which returns a result; no lock is held meanwhile. Errors: of the
  /// work, or of getting a lane for one more source.
  template <class F>
  auto with_source(session& on, F&& work) -> std::invoke_result_t<F, id_source&> {
    auto mine = borrow();
    if (!mine) {
      const auto lane = next_id_lane(on);
      if (!lane)
        return lane.failure();
      mine.emplace(*lane);
    }
    auto made = work(*mine);
    give_back(*mine);
    return made;
  }

private:
  std::optional<id_source> borrow();
  void give_back(const id_source& source);

  std::mutex mutex_;
  std::vector<id_source> idle_;
};

} // namespace paceline
