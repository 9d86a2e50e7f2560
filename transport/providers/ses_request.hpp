/// The body of SendEmail, written straight into one text: no JSON document in between. Pure.
#pragma once

#include <string>
#include <string_view>

#include "transport/providers/provider.hpp"

namespace paceline {

/// SES takes 40 MB of raw message.
inline constexpr std::size_t max_ses_message = 40'000'000;

/// FromEmailAddress is the sender's bare address; the message's own From has the name.
///
/// The envelope stands in Destination.ToAddresses, all of it: for a raw message SES takes the
/// recipients from there and leaves the header as it is. So suppressed recipients get nothing
/// although To still names them, and nobody sees who got a blind copy.
///
/// Tags: `paceline-message` and `paceline-version`, by which feedback finds the attempt, and those
/// of the sender whose name and value have 1 to 256 of A-Z, a-z, 0-9, `_` and `-`; others stay
/// behind, as do names that begin with `paceline-` or `ses:`.
std::string send_email_body(const outgoing_message& message, std::string_view configuration_set);

} // namespace paceline
