/// Address syntax as a bulk sender needs it: stricter than RFC 5321, because providers are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// The address without surrounding blanks, or what is wrong with it. ASCII only here; one `@`;
/// local part 1 to 64 octets of RFC 5322 dot-atom; domain 1 to 253 octets, labels of letters,
/// digits and inner hyphens, at least two of them and the last not a number; total at most 254
/// octets; no control characters. A quoted local part is refused, though RFC 5322 allows it.
struct address_check {
  std::optional<std::string> address;
  std::string problem; ///< for people, empty if fine
};
address_check check_address(std::string_view text);

/// A sender: `Name <local@domain>` or a bare address. The name is UTF-8, in double quotes if it has
/// special characters. Returns what is wrong, or nothing. No CR, LF, NUL or other control
/// character.
std::optional<std::string> sender_problem(std::string_view mailbox);

} // namespace paceline
