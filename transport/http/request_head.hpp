/// Request line and headers, read strictly: what two servers in a row could understand differently
/// (request smuggling) is refused, not guessed (RFC 9112, sections 3, 5, 6 and 11.2).
///
/// Pure: no socket, no clock. A refusal is the answer to give; the connection is closed after it,
/// since nobody knows where the next request would begin.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/http/message.hpp"

namespace paceline {

struct head_bounds {
  std::size_t bytes = 32u << 10; ///< request line and headers together
  std::size_t headers = 100;
  std::size_t body = 16u << 20; ///< largest Content-Length
};

/// Longest request line that the library below parses.
constexpr std::size_t longest_request_line = 8000;

struct request_head {
  std::string method; ///< one of GET HEAD POST PUT PATCH DELETE OPTIONS
  std::string target; ///< path and query as sent: printable, every escape valid, no `%00`
  std::vector<std::pair<std::string, std::string>> headers; ///< values without outer white space
  bool chunked = false;
  std::size_t length = 0; ///< Content-Length, 0 without one
  bool closes = false;    ///< the client wants no further request on this connection
  bool expects_continue = false;
  bool gzip = false; ///< the body is compressed

  bool has_body() const { return chunked || length > 0; }
};

/// Looks for the end of a head while its bytes arrive, and counts.
class head_scanner {
public:
  explicit head_scanner(head_bounds bounds) : bounds_(bounds) {}

  /// `bytes` is the request from its first byte on, each time with more behind it. Returns the
  /// length of the head with its blank line, 0 while that has not come, or the refusal (400 for a
  /// line without CR, 414 and 431 for what exceeds a bound).
  std::optional<http_response> scan(std::string_view bytes, std::size_t& length);

private:
  std::optional<http_response> check_line(std::size_t end, bool is_complete);

  head_bounds bounds_;
  std::size_t seen_ = 0;       ///< bytes looked at
  std::size_t line_start_ = 0; ///< of the line that is not complete
  std::size_t lines_ = 0;      ///< complete ones, the request line included
};

/// Parses what `head_scanner` delimited. Fills `head` as far as it gets and returns the refusal, if
/// there is one: 400, 413, 415, 417, 501 or 505.
std::optional<http_response> parse_head(std::string_view bytes, const head_bounds& bounds,
                                        request_head& head);

} // namespace paceline
