/// Header fields of the sender's own (RFC 5322, section 3.6.8). Pure.
#pragma once

#include <string>

#include "transport/api/json_fields.hpp"

namespace paceline {

/// Reads `headers`, an object of at most 50 names and texts that keep the rules of
/// `transport/mail/header_rules.hpp`, and `reply_to`, one mailbox or an array of up to 10, into one
/// JSON object for `content::headers`, where the latter is `Reply-To`.
std::string read_headers(object_fields& from);

} // namespace paceline
