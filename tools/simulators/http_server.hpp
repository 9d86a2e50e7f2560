/// An HTTP/1.1 server over TLS or without: Boost.Asio and Beast, coroutines, one thread.
///
/// Made to be cheap: a latency of 170 ms at 5,000 requests a second leaves 850 of them open, on the
/// same cores as who sends them. docs/decisions/0017 says why Beast.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "tools/simulators/certificates.hpp"
#include "tools/simulators/http_service.hpp"

namespace paceline::simulators {

class http_server {
public:
  /// Listens on `address` and `port` (0: a free one). Without `identity` it speaks plain HTTP.
  /// `loop` and `service` outlive the server. Throws boost::system::system_error.
  http_server(boost::asio::io_context& loop, http_service& service, const std::string& address,
              std::uint16_t port, const certificates* identity);
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  ~http_server();

  std::uint16_t port() const;
  std::size_t connections() const;

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace paceline::simulators
