/// SHA-256 and HMAC-SHA-256 for signatures, with everything that can be kept between two of them
/// kept: the digest is fetched once, a key is absorbed once and its state copied for each text.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/evp.h>

namespace paceline {

using sha256_digest = std::array<std::uint8_t, 32>;

/// 64 lower-case hexadecimal digits.
std::string hex_of(const sha256_digest& digest);

/// An HMAC key with both of its blocks absorbed. Made by `sha256_engine`.
class hmac_key {
public:
  hmac_key() = default;
  explicit operator bool() const { return inner_ != nullptr; }

private:
  friend class sha256_engine;
  struct end_context {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  using context = std::unique_ptr<EVP_MD_CTX, end_context>;
  context inner_, outer_;
};

/// Not thread-safe: the scratch context is shared by all calls. Throws std::bad_alloc where OpenSSL
/// has no memory; nothing else can fail.
class sha256_engine {
public:
  sha256_engine();

  sha256_digest hash(std::string_view text);
  /// The same in pieces: `begin`, any number of `add`, `finish`.
  void begin();
  void add(std::string_view text);
  sha256_digest finish();

  hmac_key make_key(std::string_view octets);
  sha256_digest authenticate(const hmac_key& key, std::string_view text);

private:
  struct end_digest {
    void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
  };
  hmac_key::context make_context() const;
  std::unique_ptr<EVP_MD, end_digest> digest_;
  hmac_key::context scratch_;
};

inline std::string_view octets_of(const sha256_digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

} // namespace paceline
