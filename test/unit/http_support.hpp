/// A real listener on a free port, and clients that send exactly the bytes they are told to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "test/support/captured_log.hpp"
#include "transport/http/server.hpp"

namespace paceline::http_test {

using namespace std::chrono_literals;

/// An answer as it came over the wire.
struct answer {
  int status = 0;   ///< 0: the connection ended, or nothing came for a long time
  std::string head; ///< status line and headers
  std::string body;
  std::string header(const std::string& name) const; ///< empty without it
};

/// One connection. Everything gives up after a long while, so that a fault fails instead of
/// hanging.
class raw_client {
public:
  /// A small `receive_buffer` (bytes; 0: the kernel's) makes it a client that reads little.
  explicit raw_client(int port, int receive_buffer = 0);
  ~raw_client();
  raw_client(raw_client&& other) noexcept;
  raw_client(const raw_client&) = delete;

  /// False once the server has closed.
  bool send(std::string_view bytes);
  answer read(bool has_body = true);
  answer ask(std::string_view request);
  /// Reads until the server closes; false if it does not.
  bool sees_end();
  void end_writing();

private:
  bool read_some();

  int socket_;
  std::string input_;
};

/// `GET path`, with whatever other header lines (each with its CRLF).
std::string get(const std::string& path, const std::string& headers = {});
std::string post(const std::string& body, const std::string& headers = {});

/// Answers `METHOD path LENGTH` of the request, as text.
http_response describe(const http_request& request);

class served {
public:
  explicit served(const std::function<void(listener_options&)>& change = {},
                  http_server::handler handler = describe, std::int64_t budget_bytes = 64 << 20);

  int port() const { return server->port(); }
  answer ask(std::string_view request) const { return raw_client(port()).ask(request); }
  /// Whether an ordinary client is answered.
  bool serves() const { return ask(get("/alive")).status == 200; }

  test::captured_log log;
  body_budget budget;
  std::unique_ptr<http_server> server;
};

} // namespace paceline::http_test
