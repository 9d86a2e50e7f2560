/// What other threads ask of the courier, in the order in which they asked.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "transport/courier_core.hpp"
#include "transport/epoll_reactor.hpp"

namespace paceline {

/// Thread-safe. `wakes` must outlive it.
class courier_inbox {
public:
  using request = std::function<void(courier_core&)>;

  explicit courier_inbox(epoll_reactor& wakes) : wakes_(wakes) {}

  /// False once the inbox is closed: nobody will do it.
  bool post(request what);
  /// Takes all requests there are; `into` is emptied first and lends its memory.
  void take(std::vector<request>& into);
  /// As `take`, and nothing is accepted from then on.
  void close(std::vector<request>& into);

private:
  epoll_reactor& wakes_;
  std::mutex mutex_;
  std::vector<request> requests_;
  bool closed_ = false;
};

} // namespace paceline
