/// What a stand-in sees of a request and says in answer; the server does the rest.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/simulators/behaviour.hpp"

namespace paceline::simulators {

struct http_request {
  std::string_view method, target;
  /// Names as they came; a name may occur twice.
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  std::string body;
  bool is_reused = false; ///< not the connection's first

  /// The first of that name, whatever its case; empty where there is none.
  std::string_view header(std::string_view name) const;
};

/// What becomes of the connection with the answer.
enum class ending {
  keep,    ///< answered as it should be
  cut,     ///< half of the body, then closed
  close,   ///< no answer, closed
  silence, ///< no answer, stays open until the client has enough
  endless, ///< a body that never ends
};

struct http_answer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers; ///< without Content-Length
  std::string body;
  std::chrono::nanoseconds delay{}; ///< since the request was read
  ending how = ending::keep;
};

class http_service {
public:
  virtual ~http_service() = default;
  /// Asked before each request is read: true resets the connection once one has come.
  virtual bool resets_unread(bool is_reused) = 0;
  virtual http_answer answer(http_request& what) = 0;
  /// A connection was made; TLS begins after what this returns.
  virtual std::chrono::nanoseconds connected() { return {}; }
};

/// `Content-Type: application/json` and that body.
http_answer json_answer(int status, std::string body);

/// An answer that `what` turns into something that is none; `delay` and body stay as they are.
void spoil(http_answer& good, behaviour what);

/// The whole of it as octets on the wire (HTTP/1.1).
std::string wire_text(const http_answer& what);

/// `Sun, 01 Mar 2026 10:00:00 GMT`, `ahead` of this machine's clock.
std::string http_date(std::chrono::seconds ahead = {});

} // namespace paceline::simulators
