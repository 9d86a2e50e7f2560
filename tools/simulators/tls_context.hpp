/// A server's TLS context for a certificate of ours.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include "tools/simulators/certificates.hpp"

namespace paceline::simulators {

/// TLS 1.2 and 1.3, sessions resumed by tickets, as providers have it. Throws
/// boost::system::system_error for a certificate or key that is none.
boost::asio::ssl::context make_tls_context(const certificates& identity);

} // namespace paceline::simulators
