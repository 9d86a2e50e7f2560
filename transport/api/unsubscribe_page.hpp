/// The pages that people see who follow an unsubscribe link: one HTML document each, with nothing
/// from elsewhere, no script and no cookie. Pure.
#pragma once

#include <string_view>

#include "transport/http/message.hpp"

namespace paceline {

/// Asks for a click, since programs open links, too. `address` is shown masked.
http_response unsubscribe_question(std::string_view address);
/// It is done, now or earlier.
http_response unsubscribe_confirmation(std::string_view address);
/// Any other answer: what is wrong and what to do, as plain text.
http_response unsubscribe_refusal(int status, std::string_view title, std::string_view text);

} // namespace paceline
