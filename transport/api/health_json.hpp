/// Health as an answer, for the API and the admin listener alike.
#pragma once

#include <string_view>

#include "transport/api/json_output.hpp"
#include "transport/api/ports.hpp"
#include "transport/http/message.hpp"

namespace paceline {

/// 200 `{"status": word}`, or 503 with the reasons.
http_response health_answer(const health& now, bool fine, std::string_view word);

} // namespace paceline
