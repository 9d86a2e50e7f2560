/// Links that take one recipient off a project's campaigns (RFC 8058), without a row per link.
///
/// A token holds project, environment, stream and address, encrypted and authenticated: its HMAC is
/// also the initialisation vector (a synthetic one, as in RFC 5297), so that equal contents give
/// equal tokens, nobody can make one, and nobody can read one. Octets: the version of this form
/// (1), 16 of HMAC-SHA-256 over the purpose and the payload, and the payload in AES-256-CTR. It is
/// filled up to a multiple of 64, so that a token's length says little about the address; most
/// have 108 characters of base64url without padding. Keys come from the configured ones by HKDF
/// (RFC 5869), each for its use. A token never expires; it holds as long as its key is configured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/ids.hpp"

namespace paceline {

/// Who leaves what.
struct unsubscribe_claim {
  project_id project;
  std::string environment;
  stream_id stream;
  std::string address; ///< normalised, at most 254 octets
  friend bool operator==(const unsubscribe_claim&, const unsubscribe_claim&) = default;
};

/// Makes and reads tokens. Immutable; thread-safe; copies share the keys.
class unsubscribe_links {
public:
  /// `base_url` without a trailing slash; `keys` as configured, at least one: the first makes
  /// tokens, all read them. Throws std::runtime_error where OpenSSL lacks an algorithm.
  unsubscribe_links(std::string base_url, const std::vector<std::string>& keys);

  /// `BASE_URL/unsubscribe/TOKEN`.
  std::string link(const unsubscribe_claim& claim) const;
  /// Nothing where no key of ours made it, for this purpose. Tags are compared in constant time.
  std::optional<unsubscribe_claim> read(std::string_view token) const;

private:
  class token_key;
  std::string base_url_;
  std::vector<std::shared_ptr<const token_key>> keys_;
};

} // namespace paceline
