/// From options to a stand-in that serves: certificate, control endpoint, signals, the line that
/// says where it listens.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/io_context.hpp>

#include "tools/simulators/certificates.hpp"
#include "tools/simulators/control.hpp"

namespace paceline::simulators {

struct place {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;         ///< 0: a free one
  std::uint16_t control_port = 0; ///< 0: a free one; always on 127.0.0.1
  std::string ca_file;            ///< where to write our authority's certificate; empty: nowhere
  std::string certificate, key;   ///< PEM files in place of our own
  certificate_flaw flaw = certificate_flaw::none;
};

/// The certificate that `where` asks for; writes `ca_file`. Throws std::runtime_error.
certificates identity_for(const place& where);

/// Prints `{"port":N,"control":N,...}` to standard output and runs `loop` until SIGTERM or SIGINT.
void serve_until_told(boost::asio::io_context& loop, std::uint16_t port, std::uint16_t control);

} // namespace paceline::simulators
