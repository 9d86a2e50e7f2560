#include "tools/simulators/certificates.hpp"

#include <memory>
#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace paceline::simulators {
namespace {

using key_pointer = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using certificate_pointer = std::unique_ptr<X509, decltype(&::X509_free)>;
using bio_pointer = std::unique_ptr<BIO, decltype(&::BIO_free_all)>;

constexpr long hour = 3600, day = 24 * hour;

void require(bool done, const char* what) {
  if (!done)
    throw std::runtime_error(std::string{"OpenSSL can't "} + what);
}

key_pointer make_key() {
  key_pointer key(EVP_EC_gen("P-256"), &::EVP_PKEY_free);
  require(key != nullptr, "make a key");
  return key;
}

void set_name(X509_NAME* name, const char* common_name) {
  const auto* text = reinterpret_cast<const unsigned char*>(common_name);
  require(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1, "set a name");
}

void add_extension(X509* to, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, decltype(&::X509_EXTENSION_free)> extension(
      X509V3_EXT_conf_nid(nullptr, &context, id, value), &::X509_EXTENSION_free);
  require(extension && X509_add_ext(to, extension.get(), -1) == 1, "add an extension");
}

/// Valid from `begin` to `end` seconds from now; without extensions and signature.
certificate_pointer draft(EVP_PKEY* key, const char* name, long begin, long end) {
  certificate_pointer made(X509_new(), &::X509_free);
  require(made != nullptr, "make a certificate");
  std::uint64_t serial = 0;
  require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1, "draw");
  X509_set_version(made.get(), X509_VERSION_3);
  // A positive number, as RFC 5280 has it.
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), begin);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), end);
  X509_set_pubkey(made.get(), key);
  set_name(X509_get_subject_name(made.get()), name);
  return made;
}

void sign(X509* what, X509* issuer, EVP_PKEY* key) {
  X509_set_issuer_name(what, X509_get_subject_name(issuer));
  add_extension(what, issuer, NID_authority_key_identifier, "keyid");
  require(X509_sign(what, key, EVP_sha256()) > 0, "sign a certificate");
}

template <class Write>
std::string pem_of(Write write) {
  bio_pointer memory(BIO_new(BIO_s_mem()), &::BIO_free_all);
  require(memory && write(memory.get()) == 1, "write PEM");
  char* text = nullptr;
  const auto length = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

std::string pem_of(X509* certificate) {
  return pem_of([certificate](BIO* to) { return PEM_write_bio_X509(to, certificate); });
}

} // namespace

certificates make_certificates(certificate_flaw flaw) {
  const auto authority_key = make_key(), server_key = make_key();
  auto authority = draft(authority_key.get(), "Paceline simulators", -2 * day, day);
  add_extension(authority.get(), authority.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(authority.get(), authority.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(authority.get(), authority.get(), NID_subject_key_identifier, "hash");
  sign(authority.get(), authority.get(), authority_key.get());

  const bool is_expired = flaw == certificate_flaw::expired;
  auto server = draft(server_key.get(), "Paceline simulator", is_expired ? -day : -hour,
                      is_expired ? -hour : day);
  add_extension(server.get(), authority.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(server.get(), authority.get(), NID_ext_key_usage, "serverAuth");
  add_extension(server.get(), authority.get(), NID_subject_key_identifier, "hash");
  add_extension(server.get(), authority.get(), NID_subject_alt_name,
                flaw == certificate_flaw::wrong_name ? "DNS:elsewhere.example"
                                                     : "DNS:localhost,IP:127.0.0.1,IP:::1");
  sign(server.get(), authority.get(), authority_key.get());

  EVP_PKEY* const key = server_key.get();
  return {pem_of(authority.get()), pem_of(server.get()), pem_of([key](BIO* to) {
            return PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

} // namespace paceline::simulators
