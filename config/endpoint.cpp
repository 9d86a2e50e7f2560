#include "config/endpoint.hpp"

#include <algorithm>
#include <charconv>

#include "config/listen_address.hpp"

namespace paceline {
namespace {

constexpr std::string_view scheme_end = "://";

bool is_host_octet(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
         || c == '.' || c == '_';
}

std::optional<int> read_port(std::string_view text) {
  int port = 0;
  const auto last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, port);
  if (failure != std::errc{} || end != last || port < 1 || port > 65535)
    return std::nullopt;
  return port;
}

} // namespace

bool endpoint::is_loopback() const {
  if (host == "localhost")
    return true;
  const bool is_v6 = host.find(':') != std::string::npos;
  const auto address = parse_listen_address(is_v6 ? "[" + host + "]:1" : host + ":1");
  return address && address->is_loopback();
}

std::optional<endpoint> parse_endpoint(std::string_view text) {
  const auto mark = text.find(scheme_end);
  if (mark == 0 || mark == std::string_view::npos)
    return std::nullopt;
  endpoint made;
  for (const char c : text.substr(0, mark)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower < 'a' || lower > 'z')
      return std::nullopt;
    made.scheme += lower;
  }
  auto rest = text.substr(mark + scheme_end.size());
  if (rest.ends_with('/'))
    rest.remove_suffix(1);
  std::string_view after;
  if (rest.starts_with('[')) {
    const auto close = rest.find(']');
    if (close == std::string_view::npos)
      return std::nullopt;
    made.host = rest.substr(1, close - 1);
    if (!parse_listen_address(std::string{rest.substr(0, close + 1)} + ":1"))
      return std::nullopt;
    after = rest.substr(close + 1);
  } else {
    const auto colon = std::min(rest.find(':'), rest.size());
    made.host = rest.substr(0, colon);
    if (made.host.empty() || !std::all_of(made.host.begin(), made.host.end(), is_host_octet))
      return std::nullopt;
    after = rest.substr(colon);
  }
  if (after.empty())
    return made;
  if (!after.starts_with(':'))
    return std::nullopt;
  const auto port = read_port(after.substr(1));
  if (!port)
    return std::nullopt;
  made.port = *port;
  return made;
}

} // namespace paceline
