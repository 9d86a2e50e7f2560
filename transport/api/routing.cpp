#include "transport/api/routing.hpp"

namespace paceline {
namespace {

std::string_view take_segment(std::string_view& rest) {
  const auto end = rest.find('/');
  const auto segment = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return segment;
}

} // namespace

std::optional<std::vector<std::string>> match_path(std::string_view pattern,
                                                   std::string_view path) {
  if (pattern.empty() || path.empty() || pattern.front() != '/' || path.front() != '/'
      || path.back() == '/')
    return std::nullopt;
  pattern.remove_prefix(1);
  path.remove_prefix(1);
  std::vector<std::string> parameters;
  while (!pattern.empty()) {
    if (path.empty())
      return std::nullopt;
    const auto wanted = take_segment(pattern);
    if (wanted == "{address}") {
      parameters.emplace_back(path);
      return parameters;
    }
    const auto given = take_segment(path);
    if (wanted.starts_with('{')) {
      if (given.empty())
        return std::nullopt;
      parameters.emplace_back(given);
    } else if (wanted != given) {
      return std::nullopt;
    }
  }
  if (!path.empty())
    return std::nullopt;
  return parameters;
}

routing find_route(std::span<const route_shape> table, std::string_view method,
                   std::string_view path) {
  routing found;
  const bool answers_head = path.starts_with("/v1/health/") || path.starts_with("/unsubscribe/");
  if (answers_head && method == "HEAD")
    method = "GET";
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto parameters = match_path(table[i].pattern, path);
    if (!parameters)
      continue;
    if (table[i].method == method) {
      found.index = i;
      found.parameters = std::move(*parameters);
      return found;
    }
    found.allow += (found.allow.empty() ? "" : ", ") + std::string{table[i].method};
  }
  if (answers_head && found.allow.starts_with("GET"))
    found.allow += ", HEAD";
  return found;
}

} // namespace paceline
