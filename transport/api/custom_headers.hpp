/// Header fields of the sender's own (RFC 5322, section 3.6.8). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "transport/api/json_fields.hpp"

namespace paceline {

/// What is wrong with a name: 1 to 76 octets of ftext (printable ASCII but the colon), and none
/// that Paceline sets itself.
std::optional<std::string> header_name_problem(std::string_view name);
/// What is wrong with a value: at most 998 octets, no control character but tab.
std::optional<std::string> header_value_problem(std::string_view value);

/// Reads `headers`, an object of at most 50 names and texts, and `reply_to`, one mailbox or an
/// array of up to 10, into one JSON object for `content::headers`, where the latter is
/// `Reply-To`.
std::string read_headers(object_fields& from);

} // namespace paceline
