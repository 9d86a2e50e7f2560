/// What may stand in a header field, for everything that ends in one: names and values of the
/// sender's own fields, display names, file names, and what a template made. Pure.
///
/// A line break that got through would end the field and begin another one, or the body.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// RFC 5322, section 2.1.1: the longest line, without its CRLF.
inline constexpr std::size_t max_header_octets = 998;

/// What is wrong with a text that ends in a header: CR, LF, NUL or another control character but
/// tab, text that is not UTF-8, more than 998 octets. Nothing if it is fine.
std::optional<std::string> header_value_problem(std::string_view value);

/// What is wrong with a name of the sender's own field: 1 to 76 octets of ftext (RFC 5322, section
/// 3.6.8: printable ASCII but the colon), and none that Paceline sets itself or that travels
/// elsewhere (addresses, dates, content, lists, traces, signatures).
std::optional<std::string> header_name_problem(std::string_view name);

} // namespace paceline
