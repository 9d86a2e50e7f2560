/// All connections of a listener, and who holds each one: a thread that gets on with it, or epoll.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/http/connection.hpp"

namespace paceline {

/// Thread-safe. A connection belongs to whoever claimed it until it is parked or released; only
/// that thread touches it. Keys are never reused, so an event that comes late finds nothing.
class connection_table {
public:
  using key = std::uint64_t;

  /// Parks in `epoll` (a descriptor that outlives this), one event at a time.
  connection_table(std::size_t most, int epoll);

  /// Parks a new one for reading. False: the table is full or epoll refuses; it is closed.
  bool add(std::unique_ptr<connection> made);
  /// Null where it is gone or another thread has it.
  connection* claim(key which);
  void park(key which, std::uint32_t events);
  void release(key which); ///< closes it

  /// Claims the parked ones that `which` selects, one after the other, and passes them to `then`,
  /// which parks or releases them.
  void claim_where(const std::function<bool(const connection&)>& which,
                   const std::function<void(key, connection&)>& then);
  /// Shuts the sockets of those which threads hold, so that these find them ended.
  void cut_claimed();
  std::size_t size() const;

private:
  struct slot {
    std::mutex mutex;
    std::uint32_t generation = 0;
    bool is_parked = false;
    std::unique_ptr<connection> held;
  };

  slot& at(key which) { return slots_[which & 0xffff'ffff]; }
  bool is_current(const slot& each, key which) const { return each.generation == which >> 32; }

  const int epoll_;
  std::vector<slot> slots_;
  mutable std::mutex free_mutex_;
  std::vector<std::uint32_t> free_; ///< indexes of empty slots, the last one is used next
};

} // namespace paceline
