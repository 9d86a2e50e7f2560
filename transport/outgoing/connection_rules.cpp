#include "transport/outgoing/connection_rules.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <stdexcept>

namespace paceline {
namespace {

long milliseconds(nanoseconds length) {
  auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(length).count();
  return static_cast<long>(std::max<std::int64_t>(1, whole)); // zero would mean libcurl's default
}

template <typename Value>
void set(CURL* handle, CURLoption option, Value value) {
  auto code = curl_easy_setopt(handle, option, value);
  if (code != CURLE_OK)
    throw std::runtime_error("libcurl refuses option " + std::to_string(option) + ": "
                             + curl_easy_strerror(code));
}

void set_identity_rules(CURL* handle, const engine_options& options) {
  set(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  set(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  set(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options.ca_file.empty())
    set(handle, CURLOPT_CAINFO, options.ca_file.c_str());
  // Authorities are read once instead of for each connection only where a folder is not asked, too.
  set(handle, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  set(handle, CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_ALL));
}

void set_way_rules(CURL* handle, const engine_options& options) {
  set(handle, CURLOPT_PROTOCOLS_STR,
      options.allow_private ? "http,https,smtp,smtps" : "https,smtp,smtps");
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  set(handle, CURLOPT_PROXY, ""); // not even from the environment
  set(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(handle, CURLOPT_TCP_NODELAY, 1L);
  // Without it, giving up a slow name look-up would wait for its thread.
  set(handle, CURLOPT_QUICK_EXIT, 1L);
}

void set_time_rules(CURL* handle, const engine_options& options) {
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options.connect_timeout));
  set(handle, CURLOPT_TIMEOUT_MS, milliseconds(options.total_timeout));
  auto idle = std::chrono::duration_cast<std::chrono::seconds>(options.idle_timeout).count();
  set(handle, CURLOPT_MAXAGE_CONN, static_cast<long>(std::max<std::int64_t>(1, idle)));
}

} // namespace

void set_connection_rules(CURL* handle, const engine_options& options) {
  set_identity_rules(handle, options);
  set_way_rules(handle, options);
  set_time_rules(handle, options);
}

void set_http_version(CURL* handle, bool http2) {
  set(handle, CURLOPT_HTTP_VERSION,
      static_cast<long>(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
}

void check_authorities(const std::string& ca_file) {
  if (ca_file.empty())
    return;
  std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store{X509_STORE_new(), X509_STORE_free};
  ERR_clear_error();
  if (store && X509_STORE_load_file(store.get(), ca_file.c_str()) == 1)
    return;
  auto code = ERR_peek_error();
  const char* reason = ERR_reason_error_string(code);
  std::string why = ERR_SYSTEM_ERROR(code) ? std::generic_category().message(ERR_GET_REASON(code))
                    : reason               ? reason
                                           : "it can't be used";
  ERR_clear_error();
  throw std::runtime_error("ca_file " + ca_file + ": " + why
                           + "; name a PEM file with the authorities to trust");
}

} // namespace paceline
