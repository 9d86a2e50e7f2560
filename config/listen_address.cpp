#include "config/listen_address.hpp"

#include <arpa/inet.h>
#include <charconv>

namespace paceline {
namespace {

bool is_address(int family, const std::string& text) {
  in6_addr bytes{};
  return ::inet_pton(family, text.c_str(), &bytes) == 1;
}

} // namespace

bool listen_address::is_loopback() const {
  return host.starts_with("127.") || host == "::1";
}

std::optional<listen_address> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  const auto digits = text.substr(colon + 1);
  listen_address found;
  const auto [end, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), found.port);
  if (failed != std::errc{} || end != digits.data() + digits.size() || found.port < 0
      || found.port > 65535)
    return std::nullopt;
  found.host = text.substr(0, colon);
  if (found.host.starts_with('[') && found.host.ends_with(']')) {
    found.host = found.host.substr(1, found.host.size() - 2);
    return is_address(AF_INET6, found.host) ? std::optional{found} : std::nullopt;
  }
  return is_address(AF_INET, found.host) ? std::optional{found} : std::nullopt;
}

} // namespace paceline
