#include "transport/api/token.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <charconv>

#include "transport/api/base64url.hpp"

namespace paceline {
namespace {

constexpr std::string_view prefix = "pl_";
constexpr std::size_t secret_characters = 43; ///< 256 bits / 6, rounded up

} // namespace

std::string make_token(key_id key, const token_secret& secret) {
  return std::string{prefix} + std::to_string(key.value()) + "_" + base64url(std::span{secret});
}

token_hash hash_secret(const token_secret& secret) {
  token_hash hash{};
  EVP_Digest(secret.data(), secret.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  return hash;
}

std::optional<parsed_token> parse_token(std::string_view text) {
  if (!text.starts_with(prefix))
    return std::nullopt;
  text.remove_prefix(prefix.size());
  const auto end = text.find('_'); // the id has none, the secret may
  if (end == std::string_view::npos || text.size() - end - 1 != secret_characters)
    return std::nullopt;
  std::int64_t id = 0;
  const auto digits = text.substr(0, end);
  const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (problem != std::errc{} || stop != digits.data() + digits.size() || id <= 0
      || digits.front() == '0')
    return std::nullopt;
  const auto octets = read_base64url(text.substr(end + 1));
  if (!octets || octets->size() != std::tuple_size_v<token_secret>)
    return std::nullopt;
  token_secret secret{};
  std::copy(octets->begin(), octets->end(), secret.begin());
  return parsed_token{key_id{id}, hash_secret(secret)};
}

bool is_same_hash(const token_hash& one, const token_hash& other) {
  return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

} // namespace paceline
