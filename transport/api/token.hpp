/// The text by which a client shows that it has an API key: `pl_<key id>_<43 characters>`.
///
/// The 43 characters are 256 random bits in base64url. The database keeps only their SHA-256: with
/// so many random bits a slow hash adds nothing. The prefix lets scanners for leaked secrets find
/// it. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/model/ids.hpp"

namespace paceline {

using token_secret = std::array<std::uint8_t, 32>;
using token_hash = std::array<std::uint8_t, 32>;

/// `secret` must come from the system's random source; the id must be above 0.
std::string make_token(key_id, const token_secret& secret);

/// What is stored in `api_keys.secret_hash`: SHA-256 of the secret's 32 octets.
token_hash hash_secret(const token_secret& secret);

struct parsed_token {
  key_id key;
  token_hash hash{}; ///< of the secret
};
/// Nothing unless `text` is exactly what `make_token` makes.
std::optional<parsed_token> parse_token(std::string_view text);

/// Takes the same time wherever the two differ.
bool is_same_hash(const token_hash& one, const token_hash& other);

} // namespace paceline
