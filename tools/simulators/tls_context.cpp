#include "tools/simulators/tls_context.hpp"

#include <boost/asio/buffer.hpp>

namespace paceline::simulators {

namespace ssl = boost::asio::ssl;

ssl::context make_tls_context(const certificates& identity) {
  ssl::context context(ssl::context::tls_server);
  context.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1
                      | ssl::context::no_tlsv1_1);
  context.use_certificate_chain(boost::asio::buffer(identity.chain));
  context.use_private_key(boost::asio::buffer(identity.key), ssl::context::pem);
  // A thousand connections that wait keep no buffers of their own.
  ::SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  return context;
}

} // namespace paceline::simulators
