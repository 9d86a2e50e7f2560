/// The stand-ins' own authority and certificate, made when they start.
///
/// They prove 127.0.0.1, ::1 and localhost for a day, so that clients can verify them as they would
/// a provider's: the authority's certificate is what a client trusts.
#pragma once

#include <string>

namespace paceline::simulators {

/// What is wrong with the certificate, for tests of clients.
enum class certificate_flaw { none, expired, wrong_name };

/// PEM texts.
struct certificates {
  std::string authority; ///< the certificate that clients are to trust
  std::string chain;     ///< the server's certificate
  std::string key;       ///< the server's private key
};

/// Makes new keys (P-256) each time. Throws std::runtime_error where OpenSSL can't.
certificates make_certificates(certificate_flaw flaw = certificate_flaw::none);

} // namespace paceline::simulators
