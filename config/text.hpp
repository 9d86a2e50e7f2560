/// Text from outside, made safe to show: UTF-8 checks, escapes, and the masks that keep secrets and
/// addresses out of logs and errors. Pure functions; none of them throws on bad input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// Octets of the well-formed UTF-8 sequence at `position`, 0 if there is none (RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_sequence(std::string_view text, std::size_t position);

/// Where the first ill-formed octet is; nothing if all of `text` is UTF-8.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// `text` for a terminal or an error line: control characters as `\n` or `\x1b`, ill-formed octets
/// as U+FFFD, and cut with `...` after about `max_octets`.
std::string printable(std::string_view text, std::size_t max_octets = 200);

/// `text` as a JSON string with its quotes. Control characters are escaped, ill-formed octets
/// become U+FFFD.
std::string json_string(std::string_view text);

/// `anna@example.com` as `a***@example.com`: the first character and the domain. Without an `@`, or
/// where the first character is not UTF-8, nothing of the local part is shown.
std::string mask_address(std::string_view address);

/// A libpq connection string with its passwords as `***`, in key=value or URI form. What can't be
/// read is masked whole: masking too much is harmless.
std::string mask_dsn(std::string_view dsn);

} // namespace paceline
