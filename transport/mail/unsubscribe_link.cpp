#include "transport/mail/unsubscribe_link.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <stdexcept>
#include <utility>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include "transport/api/base64url.hpp"

namespace paceline {
namespace {

constexpr char version = 1;
/// In front of what is authenticated: a token for anything else would have another one.
constexpr std::string_view purpose = "unsubscribe";
constexpr std::size_t tag_size = 16, block = 64;
constexpr std::size_t max_environment = 63, max_address = 254;
constexpr std::size_t max_payload = 2 * 8 + 1 + max_environment + 1 + max_address; ///< 335
constexpr std::size_t max_sealed = (max_payload + block - 1) / block * block;      ///< 384

using tag = std::array<unsigned char, tag_size>;
using key_octets = std::array<unsigned char, 32>;

struct release {
  void operator()(EVP_KDF* one) const { EVP_KDF_free(one); }
  void operator()(EVP_KDF_CTX* one) const { EVP_KDF_CTX_free(one); }
  void operator()(EVP_MAC* one) const { EVP_MAC_free(one); }
  void operator()(EVP_MAC_CTX* one) const { EVP_MAC_CTX_free(one); }
  void operator()(EVP_CIPHER* one) const { EVP_CIPHER_free(one); }
  void operator()(EVP_CIPHER_CTX* one) const { EVP_CIPHER_CTX_free(one); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

void require(bool done, const char* what) {
  if (!done)
    throw std::runtime_error(std::string{"OpenSSL: "} + what);
}

const unsigned char* octets_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// HKDF-SHA-256 without salt.
key_octets derive(std::string_view key, std::string_view use) {
  owned<EVP_KDF> hkdf{EVP_KDF_fetch(nullptr, "HKDF", nullptr)};
  require(hkdf != nullptr, "no HKDF");
  owned<EVP_KDF_CTX> context{EVP_KDF_CTX_new(hkdf.get())};
  require(context != nullptr, "no memory");
  std::string digest = "SHA256";
  std::string secret{key}, info{use};
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end()};
  key_octets derived{};
  require(EVP_KDF_derive(context.get(), derived.data(), derived.size(), parameters) == 1, "HKDF");
  OPENSSL_cleanse(secret.data(), secret.size());
  return derived;
}

void append_number(std::string& to, std::int64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8)
    to += static_cast<char>(static_cast<std::uint64_t>(number) >> shift);
}

void append_text(std::string& to, std::string_view text) {
  (to += static_cast<char>(text.size())) += text;
}

std::string payload_of(const unsubscribe_claim& claim) {
  assert(claim.environment.size() <= max_environment && claim.address.size() <= max_address);
  std::string payload;
  payload.reserve(max_sealed);
  append_number(payload, claim.project.value());
  append_number(payload, claim.stream.value());
  append_text(payload, claim.environment);
  append_text(payload, claim.address);
  payload.resize((payload.size() + block - 1) / block * block, '\0');
  return payload;
}

/// Takes a payload apart.
class payload_reader {
public:
  explicit payload_reader(std::string_view rest) : rest_(rest) {}

  std::int64_t number() {
    std::uint64_t value = 0;
    for (const char c : take(8))
      value = (value << 8) | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
  }
  std::string text() {
    const auto size = take(1);
    return std::string{take(size.empty() ? 0 : static_cast<unsigned char>(size.front()))};
  }
  bool is_over() const {
    return is_good_ && rest_.find_first_not_of('\0') == std::string_view::npos;
  }

private:
  std::string_view take(std::size_t size) {
    is_good_ = is_good_ && size <= rest_.size();
    if (!is_good_)
      return {};
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool is_good_ = true;
};

std::optional<unsubscribe_claim> claim_of(std::string_view payload) {
  payload_reader reader{payload};
  unsubscribe_claim claim;
  claim.project = project_id{reader.number()};
  claim.stream = stream_id{reader.number()};
  claim.environment = reader.text();
  claim.address = reader.text();
  if (!reader.is_over())
    return std::nullopt;
  return claim;
}

} // namespace

/// One configured key, ready for use: contexts that are only copied from.
class unsubscribe_links::token_key {
public:
  explicit token_key(std::string_view configured)
      : sealing_(derive(configured, "paceline unsubscribe sealing 1")) {
    const auto signing = derive(configured, "paceline unsubscribe signing 1");
    owned<EVP_MAC> hmac{EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
    require(hmac != nullptr, "no HMAC");
    signer_.reset(EVP_MAC_CTX_new(hmac.get()));
    std::string digest = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_end()};
    require(signer_ && EVP_MAC_init(signer_.get(), signing.data(), signing.size(), parameters) == 1
                && EVP_MAC_update(signer_.get(), octets_of(purpose), purpose.size()) == 1
                && EVP_MAC_update(signer_.get(), octets_of({&version, 1}), 1) == 1,
            "HMAC");
    cipher_.reset(EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr));
    require(cipher_ != nullptr, "no AES-256-CTR");
  }
  ~token_key() { OPENSSL_cleanse(sealing_.data(), sealing_.size()); }
  token_key(const token_key&) = delete;
  token_key& operator=(const token_key&) = delete;

  tag sign(std::string_view payload) const {
    owned<EVP_MAC_CTX> context{EVP_MAC_CTX_dup(signer_.get())};
    std::array<unsigned char, 32> whole{};
    std::size_t size = 0;
    require(context && EVP_MAC_update(context.get(), octets_of(payload), payload.size()) == 1
                && EVP_MAC_final(context.get(), whole.data(), &size, whole.size()) == 1,
            "HMAC");
    tag made{};
    std::copy_n(whole.begin(), made.size(), made.begin());
    return made;
  }

  /// Seals or opens: the same for a stream cipher.
  std::string crypt(std::string_view text, const unsigned char* vector) const {
    owned<EVP_CIPHER_CTX> context{EVP_CIPHER_CTX_new()};
    std::string made(text.size(), '\0');
    int size = 0;
    require(
        context
            && EVP_EncryptInit_ex2(context.get(), cipher_.get(), sealing_.data(), vector, nullptr)
                   == 1
            && EVP_EncryptUpdate(context.get(), reinterpret_cast<unsigned char*>(made.data()),
                                 &size, octets_of(text), static_cast<int>(text.size()))
                   == 1,
        "AES-256-CTR");
    return made;
  }

private:
  key_octets sealing_{};
  owned<EVP_MAC_CTX> signer_;
  owned<EVP_CIPHER> cipher_;
};

unsubscribe_links::unsubscribe_links(std::string base_url, const std::vector<std::string>& keys)
    : base_url_(std::move(base_url)) {
  assert(!keys.empty());
  for (const auto& key : keys)
    keys_.push_back(std::make_shared<const token_key>(key));
}

std::string unsubscribe_links::link(const unsubscribe_claim& claim) const {
  const auto payload = payload_of(claim);
  const auto& key = *keys_.front();
  const auto signature = key.sign(payload);
  std::string token{version};
  token.append(reinterpret_cast<const char*>(signature.data()), signature.size());
  token += key.crypt(payload, signature.data());
  return base_url_ + "/unsubscribe/" + base64url(token);
}

std::optional<unsubscribe_claim> unsubscribe_links::read(std::string_view token) const {
  constexpr std::size_t head = 1 + tag_size;
  constexpr std::size_t max_token = ((head + max_sealed) * 4 + 2) / 3;
  if (token.size() > max_token)
    return std::nullopt;
  const auto octets = read_base64url(token);
  if (!octets || octets->size() <= head || (octets->size() - head) % block != 0
      || octets->front() != version)
    return std::nullopt;
  const auto* signature = octets_of(*octets) + 1;
  const auto sealed = std::string_view{*octets}.substr(head);
  for (const auto& key : keys_) {
    const auto payload = key->crypt(sealed, signature);
    if (CRYPTO_memcmp(key->sign(payload).data(), signature, tag_size) == 0)
      return claim_of(payload);
  }
  return std::nullopt;
}

} // namespace paceline
