/// Base64 with padding (RFC 4648, section 4), as requests carry attachments.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// The octets. Line breaks (CR, LF) may stand between characters, as encoders make them; nothing
/// else may. Nothing where `text` has another character, its padding is missing or in the wrong
/// place, or unused bits of the last character are not zero.
std::optional<std::string> read_base64(std::string_view text);

} // namespace paceline
