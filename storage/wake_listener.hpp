/// Wake-ups between processes: NOTIFY on `paceline_wake` with the route's text as payload.
///
/// The listener has its own direct connection and thread. It probes the connection every few
/// seconds and reconnects by itself; after every (re)connect it reports once with an empty payload,
/// because something may have been missed. A wake-up is only a hint: a poll stands behind it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "storage/pool.hpp"

namespace paceline {

class wake_listener {
public:
  /// `woken` runs on the listener's thread: quick and non-blocking.
  wake_listener(connection_options direct, std::chrono::milliseconds probe_every,
                std::function<void(std::string_view route)> woken);
  ~wake_listener();

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// Outside of any data transaction: NOTIFY inside one serialises commits.
result<done> send_wake(session&, std::string_view route);

} // namespace paceline
