#include "transport/mail/header_rules.hpp"

#include <algorithm>
#include <array>

#include "config/text.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_name = 76;

/// Lower case. What a sender could forge or double by setting it.
constexpr std::array<std::string_view, 17> reserved_names{"from",
                                                          "to",
                                                          "cc",
                                                          "bcc",
                                                          "subject",
                                                          "date",
                                                          "message-id",
                                                          "reply-to",
                                                          "mime-version",
                                                          "return-path",
                                                          "sender",
                                                          "received",
                                                          "dkim-signature",
                                                          "domainkey-signature",
                                                          "authentication-results",
                                                          "delivered-to",
                                                          "feedback-id"};
constexpr std::array<std::string_view, 5> reserved_beginnings{"content-", "list-unsubscribe",
                                                              "resent-", "arc-", "x-paceline-"};

bool is_forbidden(char c) {
  const auto octet = static_cast<unsigned char>(c);
  return (octet < 0x20 && c != '\t') || octet == 0x7f;
}

} // namespace

std::optional<std::string> header_value_problem(std::string_view value) {
  if (value.size() > max_header_octets)
    return "has " + std::to_string(value.size()) + " octets: at most 998 are allowed";
  if (std::any_of(value.begin(), value.end(), is_forbidden))
    return "must not contain a line break (CR, LF), NUL or another control character";
  if (first_invalid_utf8(value))
    return "must be UTF-8";
  return std::nullopt;
}

std::optional<std::string> header_name_problem(std::string_view name) {
  if (name.empty() || name.size() > max_name)
    return "the name has " + std::to_string(name.size()) + " octets: 1 to 76 are allowed";
  if (!std::all_of(name.begin(), name.end(), [](char c) { return c > 32 && c < 127 && c != ':'; }))
    return "the name must be of printable ASCII characters without blank and colon";
  const auto plain = ascii_lower(name);
  const auto is_reserved =
      std::find(reserved_names.begin(), reserved_names.end(), plain) != reserved_names.end()
      || std::any_of(reserved_beginnings.begin(), reserved_beginnings.end(),
                     [&plain](std::string_view begin) { return plain.starts_with(begin); });
  if (is_reserved)
    return "this header is set by Paceline itself: use the request's own fields";
  return std::nullopt;
}

} // namespace paceline
