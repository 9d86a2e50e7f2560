/// Bare libcurl as a floor: its multi interface on epoll, one thread, requests at a steady pace.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/benchmarks/ses_stand_in.hpp"

namespace paceline::bench {

/// One message to be sent.
struct floor_message {
  std::int64_t id = 0;
  std::string recipient;
};

struct transfer_settings {
  ses_place to;
  double rate = 5000;          ///< starts per second; one that comes late is not made up for
  std::size_t body_octets = 0; ///< of a request, about; messages are padded to it
};

struct transfer_ports {
  /// The next message; nothing where there is none now. Asked at its slot.
  std::function<std::optional<floor_message>()> next;
  /// It was accepted.
  std::function<void(std::int64_t)> accepted;
};

/// Sends `count` messages and returns once all were accepted. Throws `std::runtime_error` for the
/// first that was not.
void run_transfers(const transfer_settings& settings, std::int64_t count,
                   const transfer_ports& ports);

} // namespace paceline::bench
