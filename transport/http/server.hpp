/// A listener: cpp-httplib behind bounds that hold against clients who are slow, many or hostile.
///
/// A thread serves a request, not a connection: between requests a connection waits without one.
/// Everything a client can make us hold has a bound (`listener_options`); what exceeds it gets a
/// problem+json answer where one can still be given, and the connection is closed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/logging.hpp"
#include "storage/result.hpp"
#include "transport/http/message.hpp"

namespace paceline {

/// Bytes of request bodies that all listeners together may hold. Thread-safe; outlives them.
class body_budget {
public:
  explicit body_budget(std::int64_t bytes) : free_(bytes) {}
  bool take(std::int64_t bytes); ///< false: not so much is free; nothing was taken
  void give(std::int64_t bytes);
  std::int64_t left() const { return free_.load(); }

private:
  std::atomic<std::int64_t> free_;
};

struct listener_options {
  std::string name;                     ///< `api`, `feedback` or `admin`, for logs and metrics
  std::string address;                  ///< `127.0.0.1:8700`, `[::1]:8700`; port 0: any free one
  std::string tls_certificate, tls_key; ///< PEM files; both or neither
  int threads = 64;                     ///< most requests at once; started as needed
  /// A thread with nothing to do for so long ends, so that its stack goes back; one always stays.
  std::chrono::milliseconds thread_idle{10'000};
  int max_connections = 1024;       ///< above it new ones get 503 and are closed
  std::size_t max_body = 16u << 20; ///< bytes, also of a chunked or compressed body
  std::size_t max_headers = 100;
  std::size_t max_header_bytes = 32u << 10;         ///< request line and headers together
  std::chrono::milliseconds header_timeout{10'000}; ///< from the first byte to the blank line
  std::chrono::milliseconds body_timeout{30'000};   ///< from the blank line to the last byte
  std::chrono::milliseconds write_timeout{30'000};  ///< for a whole answer
  std::chrono::milliseconds idle_timeout{60'000};   ///< between requests, and before the first
};

/// Gauges and counts since the start.
struct listener_counts {
  std::int64_t connections = 0, busy_threads = 0;
  std::int64_t requests = 0, refused_connections = 0, timed_out = 0, too_large = 0;
};

class http_server {
public:
  /// Answers one request; called on several threads at once. What it throws becomes a 500.
  using handler = std::function<http_response(const http_request&)>;

  /// Binds, listens and serves. Error `refused`: why the address or the certificate can't be used.
  static result<std::unique_ptr<http_server>> start(listener_options options, body_budget& budget,
                                                    logger& log, handler answer);
  ~http_server(); ///< as stop()

  int port() const;
  listener_counts counts() const; ///< thread-safe
  /// No new connections and requests; those being answered have a second, then their connections
  /// are cut. Returns within 2 s unless a handler itself hangs. Idempotent.
  void stop();
  /// Reads certificate and key again; connections that exist keep theirs. Error: what is wrong with
  /// the files; the old ones stay in use.
  result<done> reload_tls();

private:
  class impl;
  explicit http_server(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
