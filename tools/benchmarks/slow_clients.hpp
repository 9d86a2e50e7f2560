/// Clients that send a byte now and then and never finish: the cheapest way to hold a server up.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace paceline::bench {

/// Half of them dribble the headers of a request, half the body of one. Whoever is cut comes back
/// at once. Runs on a thread of its own until destroyed.
class slow_clients {
public:
  slow_clients(int port, int clients, std::chrono::milliseconds between_bytes);
  slow_clients(const slow_clients&) = delete;
  slow_clients& operator=(const slow_clients&) = delete;
  ~slow_clients();

private:
  std::jthread thread_;
};

} // namespace paceline::bench
