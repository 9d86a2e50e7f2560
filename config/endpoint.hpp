/// Where something outside is reached: scheme, host and port of a URL without a path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paceline {

struct endpoint {
  std::string scheme; ///< lower case
  std::string host;   ///< a name or a numeric address, without brackets
  int port = 0;       ///< 1 to 65535; 0: the scheme's own

  /// Whether the host is written as a loopback address, or `localhost`.
  bool is_loopback() const;
};

/// `https://email.eu-central-1.amazonaws.com`, `smtp://[::1]:2525`; a single slash may follow.
/// Nothing for all else: user names, paths, queries, blanks and control characters have no place
/// there.
std::optional<endpoint> parse_endpoint(std::string_view text);

} // namespace paceline
