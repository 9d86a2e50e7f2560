/// What the resources' answers have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "storage/result.hpp"
#include "transport/api/api_parts.hpp"
#include "transport/api/json_document.hpp"
#include "transport/api/problem_list.hpp"
#include "transport/http/problem.hpp"

namespace paceline {

http_response json_answer(int status, std::string body);

/// 400 `invalid_field` with all that is wrong.
http_response refuse_fields(const problem_list& problems);
/// The status that fits one field which only the database or the key can judge.
http_response refuse_field(int status, std::string_view type, std::string pointer,
                           std::string detail);
/// With `Retry-After`, rounded up to whole seconds, at least 1.
http_response refuse_for_now(int status, std::string_view type, std::string_view detail,
                             nanoseconds wait);
http_response not_found(std::string_view what);
/// An operating error as an answer: 404, 409, 422, 500 or 503 with `Retry-After`. What is a bug is
/// logged and not told.
http_response refuse_error(api_parts& with, const api_call& call, const error& failure);

/// The body as a document, or why not: 415 where its type is another, 400 where it is no JSON, or
/// where there is a query beside it.
std::variant<json_document, http_response> read_json_body(const http_request& request);

/// For requests without a body: 400 where there is one other than white space or `{}`.
std::optional<http_response> refuse_body(const http_request& request);

/// `key:ID`, as the audit log has it.
std::string actor_of(const api_call& call);

/// `route` is `environment:region` of the key's environment.
bool is_of_environment(const api_call& call, std::string_view route);

} // namespace paceline
