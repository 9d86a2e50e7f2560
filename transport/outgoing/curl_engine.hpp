/// Outgoing connections: libcurl's multi interface driven by a reactor, on the reactor's thread.
///
/// Everything that goes out (provider calls by HTTP and SMTP, credentials, later webhooks and push)
/// is a transfer of an engine. The engine owns sockets, connection reuse and the rules that no
/// caller may forget: certificates are always verified, redirects are never followed, the address
/// actually connected to is checked, answers are bounded, and no request is written twice.
///
/// libcurl silently repeats a request when a reused connection dies before the answer. So every
/// transfer asks its owner right before the first request byte (CURLOPT_PREREQFUNCTION); a second
/// question means such a repeat and ends the transfer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <curl/curl.h>

#include "transport/providers/provider.hpp"

namespace paceline {

/// Connections carry one request at a time (HTTP/1.1, SMTP), or many (HTTP/2) where an HTTPS server
/// offers that. The first transfer to a host finds out; meanwhile others wait for its connection.
struct engine_options {
  std::int32_t max_connections = 2000; ///< per host; further transfers wait inside
  std::string ca_file;                 ///< PEM; empty: the system's authorities
  bool allow_private = false;          ///< see `is_public_address`
  nanoseconds connect_timeout = std::chrono::seconds{5}; ///< name look-up, connecting, TLS
  nanoseconds total_timeout = std::chrono::seconds{30};  ///< all of a transfer
  nanoseconds idle_timeout = std::chrono::seconds{50};   ///< older idle connections are not reused
  bool http2 = true; ///< where the server offers it; up to 8 connections then carry all streams
};

/// How far a transfer came: what decides whether its request may be sent again.
enum class transfer_end {
  answered,    ///< a whole answer came
  not_written, ///< provably no byte of the request was written: unreachable, refused, certificate
  not_taken,   ///< written, but the peer said that it took no notice: REFUSED_STREAM, GOAWAY below
  refused,     ///< the owner said no right before the first byte
  lost,        ///< written, then lost, cut, or repeated by the library: may have been taken
  timed_out,   ///< written, no whole answer in time
  too_large,   ///< written, the answer exceeds its bound
};

struct transfer_result {
  transfer_end end = transfer_end::lost;
  CURLcode code = CURLE_OK;
  std::string diagnostic;       ///< for people: what failed and where; no secrets, no bodies
  bool bad_certificate = false; ///< `not_written` because the peer could not prove who it is
};

/// One transfer to be. Made by the engine with all rules set; the owner adds body and
/// callbacks on `handle()`, and must not set what the engine sets.
///
/// The engine sets everything in connection_rules.cpp, and CURLOPT_ERRORBUFFER, DEBUGFUNCTION,
/// HTTP_VERSION, OPENSOCKETFUNCTION, CLOSESOCKETFUNCTION, PREREQFUNCTION, PRIVATE, URL, VERBOSE.
class curl_transfer {
public:
  virtual ~curl_transfer() = default;
  virtual CURL* handle() = 0;
};

class curl_engine {
public:
  /// `loop` outlives the engine. Throws std::runtime_error where `ca_file` can't be read: call it
  /// before anything else starts.
  curl_engine(reactor& loop, engine_options options);
  /// Ends all transfers without a word to their owners. Not from within a callback.
  ~curl_engine();
  curl_engine(const curl_engine&) = delete;
  curl_engine& operator=(const curl_engine&) = delete;

  /// A transfer to `url`. Handles are kept and used again.
  std::unique_ptr<curl_transfer> prepare(const std::string& url);
  /// Starts it. `may_write` is asked once, right before the first request byte (for SMTP: before
  /// MAIL FROM); it must start nothing. `done` is called exactly once, from the reactor, never from
  /// within `start`; the transfer is still valid then, and information can be read from its
  /// handle. Where the owner's own write or header callback refuses octets, the end is `too_large`.
  void start(std::unique_ptr<curl_transfer> what, std::function<bool()> may_write,
             std::function<void(curl_transfer&, const transfer_result&)> done);

  /// The host of `url` is known to take many requests on one connection.
  bool is_shared(const std::string& url) const;

  std::size_t in_flight() const;   ///< waiting ones, too
  std::size_t connections() const; ///< open, idle or not

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
