/// Links that take one recipient off a project's campaigns (RFC 8058), without a row per link.
///
/// A token holds project, environment, stream and address, encrypted and authenticated: its HMAC is
/// also the initialisation vector (a synthetic one, as in RFC 5297), so that equal contents give
/// equal tokens, nobody can make one, and nobody can read one. Characters are base64url without
/// padding. It never expires; it holds as long as its key is configured.
#pragma once

#include <array>
#include <cstdint>
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
  std::string address; ///< normalised
};

/// Makes and reads tokens. Immutable; thread-safe.
class unsubscribe_links {
public:
  /// `base_url` without a trailing slash; `keys` as configured, at least one: the first makes
  /// tokens, all read them.
  unsubscribe_links(std::string base_url, const std::vector<std::string>& keys);

  /// `BASE_URL/unsubscribe/TOKEN`.
  std::string link(const unsubscribe_claim& claim) const;
  /// Nothing where no key of ours made it, for this purpose.
  std::optional<unsubscribe_claim> read(std::string_view token) const;

private:
  struct derived_keys {
    std::array<std::uint8_t, 32> signing{}, sealing{};
  };
  std::string base_url_;
  std::vector<derived_keys> keys_;
};

} // namespace paceline
