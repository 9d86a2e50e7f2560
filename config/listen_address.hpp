/// Where a listener binds: an IP address and a port.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paceline {

struct listen_address {
  std::string host; ///< a numeric IPv4 or IPv6 address, without brackets
  int port = 0;     ///< 0 to 65535; 0: any free one

  bool is_loopback() const;
};

/// `127.0.0.1:8700`, `0.0.0.0:8700`, `[::1]:8700`; nothing for anything else: names are not looked
/// up, so that a listener is never wider than it reads.
std::optional<listen_address> parse_listen_address(std::string_view text);

} // namespace paceline
