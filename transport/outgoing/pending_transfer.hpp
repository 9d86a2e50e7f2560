/// A transfer's life inside the engine: whom it asks, what libcurl says about it, how it ended.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "transport/outgoing/curl_engine.hpp"
#include "transport/outgoing/transfer_verdict.hpp"

namespace paceline {

/// What all transfers of an engine share.
struct engine_state {
  engine_options options;
  std::size_t connections = 0; ///< open sockets
};

/// `scheme://host:port` of a URL.
std::string origin_of(const std::string& url);

/// How requests travel to a host.
enum class host_protocol { unknown, http1, http2 };

class pending_transfer final : public curl_transfer {
public:
  /// Sets every rule. `shared` outlives all connections that the handle opens.
  pending_transfer(CURL* handle, engine_state& shared, const std::string& url);
  ~pending_transfer() override;
  pending_transfer(const pending_transfer&) = delete;
  pending_transfer& operator=(const pending_transfer&) = delete;

  CURL* handle() override { return handle_; }
  /// The handle, ready for another transfer; null where it may not be used again.
  CURL* release(CURLcode code);

  /// `scheme://host:port` of the URL.
  const std::string& origin() const { return origin_; }
  /// Reads libcurl's lines from now on; only HTTP/2 needs them.
  void listen(departures& seen);
  /// `connected` is told once, right before the first request byte, what the connection speaks.
  void expect(std::function<bool()> may_write,
              std::function<void(curl_transfer&, const transfer_result&)> done,
              std::function<void(host_protocol)> connected);
  /// Tells the owner. `code` is what libcurl ended with.
  void end(CURLcode code);

private:
  static int ask(void* self, char*, char*, int, int);
  static int hear(CURL*, curl_infotype kind, char* text, std::size_t size, void* self);
  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address);
  static int close_socket(void* shared, curl_socket_t socket);
  transfer_result result(CURLcode code) const;
  std::string diagnose(CURLcode code) const;

  CURL* handle_;
  engine_state& shared_;
  std::string origin_;
  std::function<bool()> may_write_;
  std::function<void(curl_transfer&, const transfer_result&)> done_;
  std::function<void(host_protocol)> connected_;
  departures* departures_ = nullptr;
  http2_notes notes_;
  transfer_facts facts_;
  std::string refused_address_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

} // namespace paceline
