/// Which of a table's routes a request means. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// Method and pattern of a route, such as `GET` and `/v1/messages/{id}`. A parameter is one segment
/// of the path and not empty; one named `{address}` is the whole rest, since the part of an
/// address before the @ may hold a slash.
struct route_shape {
  std::string_view method;
  std::string_view pattern;
};

/// The parameters' values where `path` (percent-decoded) is of this pattern.
std::optional<std::vector<std::string>> match_path(std::string_view pattern, std::string_view path);

struct routing {
  std::optional<std::size_t> index;    ///< of the route; nothing: none fits
  std::vector<std::string> parameters; ///< of that route
  std::string allow;                   ///< where only the method is wrong: what `Allow` says
};
/// HEAD is served where GET is, and only below /v1/health/ and /unsubscribe/: load balancers and
/// link checkers ask so. The listener leaves the body away.
routing find_route(std::span<const route_shape> table, std::string_view method,
                   std::string_view path);

} // namespace paceline
