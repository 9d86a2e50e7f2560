/// Text from outside, made fit for a text column and for an operator's terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline {

/// At most `limit` code points of `text`: octets that are not UTF-8 become U+FFFD, NUL and other
/// control characters (C0, DEL, C1) go, except that tab and line breaks become blanks.
std::string clean_text(std::string_view text, std::size_t limit = 1000);

} // namespace paceline
