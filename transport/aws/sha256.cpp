#include "transport/aws/sha256.hpp"

#include <algorithm>
#include <new>

#include <openssl/crypto.h>

namespace paceline {
namespace {

constexpr std::size_t block_size = 64; // of SHA-256, in octets

/// OpenSSL's digests fail only where it has no memory.
void require(int succeeded) {
  if (succeeded != 1)
    throw std::bad_alloc{};
}

} // namespace

std::string hex_of(const sha256_digest& digest) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(2 * digest.size(), '0');
  for (std::size_t i = 0; i < digest.size(); ++i) {
    text[2 * i] = digits[digest[i] >> 4];
    text[2 * i + 1] = digits[digest[i] & 15];
  }
  return text;
}

sha256_engine::sha256_engine()
    : digest_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), scratch_(make_context()) {
  if (!digest_)
    throw std::bad_alloc{};
}

hmac_key::context sha256_engine::make_context() const {
  hmac_key::context made{EVP_MD_CTX_new()};
  if (!made)
    throw std::bad_alloc{};
  return made;
}

void sha256_engine::begin() {
  require(EVP_DigestInit_ex2(scratch_.get(), digest_.get(), nullptr));
}

void sha256_engine::add(std::string_view text) {
  require(EVP_DigestUpdate(scratch_.get(), text.data(), text.size()));
}

sha256_digest sha256_engine::finish() {
  sha256_digest digest;
  require(EVP_DigestFinal_ex(scratch_.get(), digest.data(), nullptr));
  return digest;
}

sha256_digest sha256_engine::hash(std::string_view text) {
  begin();
  add(text);
  return finish();
}

/// RFC 2104: a key longer than a block is hashed first; the rest is zeros.
hmac_key sha256_engine::make_key(std::string_view octets) {
  std::array<std::uint8_t, block_size> padded{};
  if (octets.size() > block_size) {
    const auto shortened = hash(octets);
    std::copy(shortened.begin(), shortened.end(), padded.begin());
  } else {
    std::copy(octets.begin(), octets.end(), padded.begin());
  }
  hmac_key key;
  const auto absorb = [this, &padded](hmac_key::context& into, std::uint8_t mask) {
    auto block = padded;
    for (auto& octet : block)
      octet ^= mask;
    into = make_context();
    require(EVP_DigestInit_ex2(into.get(), digest_.get(), nullptr));
    require(EVP_DigestUpdate(into.get(), block.data(), block.size()));
    OPENSSL_cleanse(block.data(), block.size());
  };
  absorb(key.inner_, 0x36);
  absorb(key.outer_, 0x5c);
  OPENSSL_cleanse(padded.data(), padded.size());
  return key;
}

sha256_digest sha256_engine::authenticate(const hmac_key& key, std::string_view text) {
  require(EVP_MD_CTX_copy_ex(scratch_.get(), key.inner_.get()));
  add(text);
  const auto inner = finish();
  require(EVP_MD_CTX_copy_ex(scratch_.get(), key.outer_.get()));
  add(octets_of(inner));
  return finish();
}

} // namespace paceline
