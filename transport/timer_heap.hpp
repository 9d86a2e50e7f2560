/// Tasks by the time at which they are due; equal times run in the order in which they were added.
/// Not thread-safe. A task may add further ones while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "storage/model/instants.hpp"

namespace paceline {

class timer_heap {
public:
  void add(boot_instant when, std::function<void()> task);
  /// When the earliest task is due; nothing if there is none.
  std::optional<boot_instant> next() const;
  /// Runs up to `most` tasks that are due at `now`; the rest wait for the next call, so that other
  /// work gets its turn. Returns how many ran.
  std::size_t run_due(boot_instant now, std::size_t most);

private:
  struct entry {
    boot_instant when;
    std::uint64_t arrival = 0;
    std::function<void()> task;
  };
  static bool later(const entry& left, const entry& right);

  std::vector<entry> entries_;
  std::uint64_t arrivals_ = 0;
};

} // namespace paceline
