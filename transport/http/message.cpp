#include "transport/http/message.hpp"

#include <algorithm>

#include "transport/http/ascii.hpp"

namespace paceline {

std::optional<std::string_view> http_request::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (is_same_ascii(key, name))
      return value;
  return std::nullopt;
}

std::size_t http_request::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(),
                    [name](const auto& each) { return is_same_ascii(each.first, name); }));
}

} // namespace paceline
