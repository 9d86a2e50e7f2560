/// Outgoing HTTP/1.1 and HTTP/2 requests over a `curl_engine`. On the reactor's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/outgoing/curl_engine.hpp"

namespace paceline {

/// Not `http_request`: that is what a listener receives (transport/http/message.hpp).
struct outgoing_request {
  std::string method = "POST";
  std::string url;                  ///< https, or http where the engine allows private addresses
  std::vector<std::string> headers; ///< `Name: value`, without line breaks
  std::string body;
};

/// What a request came to. Status, headers and body mean something only when `end` is `answered`:
/// the head is whole then, and so is the body where its length was announced. One that ends with
/// the connection may have been cut.
struct http_result {
  transfer_end end = transfer_end::lost;
  int status = 0;
  std::string body;
  std::string diagnostic; ///< see transfer_result
  bool bad_certificate = false;

  /// The value of the header, whatever the case of its name; of several the first.
  std::optional<std::string_view> header(std::string_view name) const;
  std::vector<std::pair<std::string, std::string>> headers; ///< at most 100, 32 KiB together
};

class http_client {
public:
  static constexpr std::size_t max_answer = 1 << 20; ///< octets of a body

  /// `loop` outlives the client. Throws as `curl_engine` does.
  http_client(reactor& loop, engine_options options);
  ~http_client();

  /// `may_write` is asked once, right before the first request byte; `answered` is called exactly
  /// once, from the reactor. A redirect is an answer like any other.
  void send(outgoing_request what, std::function<bool()> may_write,
            std::function<void(http_result)> answered);

  // A request with a slot can't wait for a connection: by the time it is open the slot is gone, the
  // owner says no, and libcurl closes the connection unused. So connections are opened apart from
  // such requests, by harmless HEAD requests, and ahead of need. For clients of one host.

  /// From now on about so many connections to the host of `url` are free beyond those in use.
  /// Opens them, a bounded number at once. Errors are not reported: the next request meets them.
  void keep_free(const std::string& url, std::size_t connections);
  /// Whether a request sent now would go out at once: on a free connection, or with others on one
  /// (HTTP/2). Each time it is not, another connection is opened. Also true where none can be
  /// opened, so that a request finds out why.
  bool is_ready(const std::string& url);

  curl_engine& engine();

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
