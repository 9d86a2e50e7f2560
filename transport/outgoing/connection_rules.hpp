/// The rules that every outgoing transfer obeys, and the only place that sets them.
#pragma once

#include <curl/curl.h>

#include "transport/outgoing/curl_engine.hpp"

namespace paceline {

/// Sets on a new or reset handle whom it may talk to, how it proves who that is, and how long all
/// of it may take. Owners of transfers may change none of this but CURLOPT_USE_SSL, where a peer in
/// a private network has no TLS. Throws std::runtime_error for an option that this libcurl lacks:
/// then the library is not the one that we were built for.
void set_connection_rules(CURL* handle, const engine_options& options);

/// HTTP/2 where the server offers it, or HTTP/1.1 whatever it offers.
void set_http_version(CURL* handle, bool http2);

/// Throws std::runtime_error, with file and reason, where it holds no certificates.
void check_authorities(const std::string& ca_file);

} // namespace paceline
