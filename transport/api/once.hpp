/// Doing what a request asks for once, however often it is repeated.
#pragma once

#include <optional>
#include <variant>

#include "storage/intake.hpp"
#include "transport/api/api_parts.hpp"

namespace paceline {

/// The request's idempotency key with the hash of what it asks for, nothing without the header, or
/// 400 where the header is wrong. The answer to remember is still to be filled in.
std::variant<std::optional<idempotency>, http_response> read_once(const http_request& request);

/// 409 with `Retry-After`: the key is being worked for.
http_response refuse_in_work();

/// The answer for every verdict but `stored`: the first answer again, byte for byte; 422 for
/// another body; 409 for a key in work; 401 for an API key that has ended.
http_response answer_once_more(api_parts& with, const api_call& call, const intake_reply& reply);

/// 401 with `WWW-Authenticate`.
http_response refuse_key(std::string_view detail);

} // namespace paceline
