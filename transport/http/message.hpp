/// An HTTP request as a handler gets it, and what it answers. No library shows through.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paceline {

struct http_request {
  std::string id;     ///< of the log lines and the X-Request-Id of the answer
  std::string method; ///< upper case
  std::string path;   ///< percent-decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;   ///< decoded, in no order
  std::vector<std::pair<std::string, std::string>> headers; ///< names as given
  std::string body;                                         ///< whole, within the listener's bound
  std::string peer;                                         ///< the client's address

  /// The first header of that name, in any case; nothing if absent.
  std::optional<std::string_view> header(std::string_view name) const;
  /// How often the header is there.
  std::size_t count(std::string_view name) const;
};

struct http_response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

} // namespace paceline
