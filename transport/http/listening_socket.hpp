/// The socket on which a listener listens.
#pragma once

#include <string>

#include "storage/result.hpp"
#include "transport/http/channel.hpp"

namespace paceline {

/// `address` is `HOST:PORT` or `[IPV6]:PORT`; port 0 is any free one. Two processes can't share a
/// port, and a restart need not wait for old connections. Error `refused`: why not.
result<owned_socket> listen_on(const std::string& address);

int port_of(const owned_socket& listening);

/// The next waiting connection, non-blocking and without Nagle's delay; number -1 and errno where
/// there is none. `peer` becomes the client's address without its port.
owned_socket accept_from(const owned_socket& listening, std::string& peer);

} // namespace paceline
