/// AWS Signature Version 4 in the Authorization header. Pure: keys, time and request come in.
///
/// A signature is an HMAC over a canonical form of the request: method, path, query, headers and
/// the body's hash, each spelled in one way only. Paths are encoded as they stand on the wire, so
/// that what is percent-encoded there is encoded twice (all services but S3 want that); queries are
/// encoded exactly once. The signing key hangs on the day, the region, the service and the secret,
/// and is kept until one of them changes. "Signature Version 4" in the AWS General Reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "transport/aws/sha256.hpp"

namespace paceline {

struct aws_credentials;

struct header_to_sign {
  std::string_view name;  ///< in any case
  std::string_view value; ///< as sent
};

/// Views into what the caller is about to send.
struct request_to_sign {
  std::string_view method;
  std::string_view target;                 ///< path and query as sent, e.g. `/v2/email/account?a=b`
  std::span<const header_to_sign> headers; ///< those to be signed, in any order; with Host
  std::string_view body_hash;              ///< SHA-256 of the body, 64 hexadecimal digits
};

/// The canonical form, and the names of the signed headers as they appear in it.
struct canonical_form {
  std::string text;
  std::string signed_headers; ///< `content-type;host;x-amz-date`
};
canonical_form canonicalize(const request_to_sign& request);

/// As a segment of a path, or a name or value of a query: all but A-Z, a-z, 0-9 and `-._~` in
/// percent form.
std::string percent_encoded(std::string_view text);

/// Signs for one region and service. Not thread-safe.
class sigv4_signer {
public:
  /// `service` is the signing name: `ses` for SES v2, `sns` for SNS.
  sigv4_signer(std::string region, std::string service);

  std::string hash(std::string_view body) { return hex_of(engine_.hash(body)); }

  /// What is signed: algorithm, time, scope and the hash of the canonical form. `date` is
  /// `amz_date`.
  std::string string_to_sign(const canonical_form& form, std::string_view date);

  /// The value of Authorization. `date` must be the value of the header X-Amz-Date; the session
  /// token is signed only if it is among the headers.
  std::string authorize(const request_to_sign& request, const aws_credentials& keys,
                        std::string_view date);

private:
  const hmac_key& signing_key(const aws_credentials& keys, std::string_view day);

  std::string region_, service_;
  std::string scope_end_; ///< `/eu-west-1/ses/aws4_request`
  sha256_engine engine_;
  hmac_key key_;
  std::string key_day_;
  std::string key_secret_; ///< what `key_` was made from
};

} // namespace paceline
