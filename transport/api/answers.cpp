#include "transport/api/answers.hpp"

#include <algorithm>

#include "transport/api/message_request.hpp"
#include "transport/api/query_fields.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

/// `application/json`, whatever its parameters.
bool is_json(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t'))
    type.remove_suffix(1);
  return is_same_ascii(type, "application/json");
}

} // namespace

http_response json_answer(int status, std::string body) {
  http_response answer;
  answer.status = status;
  answer.body = std::move(body);
  return answer;
}

http_response refuse_fields(const problem_list& problems) {
  return problem(400, "invalid_field",
                 problems.is_full() ? "The request has at least 50 problems; nothing was stored."
                                    : "The request has problems; nothing was stored.",
                 problems.entries());
}

http_response refuse_field(int status, std::string_view type, std::string pointer,
                           std::string detail) {
  return problem(status, type, "The request has a problem; nothing was stored.",
                 {{std::move(pointer), std::move(detail)}});
}

http_response refuse_for_now(int status, std::string_view type, std::string_view detail,
                             nanoseconds wait) {
  const auto seconds =
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(wait).count());
  auto answer = problem(status, type, detail);
  answer.headers.emplace_back("Retry-After", std::to_string(seconds));
  return answer;
}

http_response not_found(std::string_view what) {
  return problem(404, "not_found",
                 "The key's project and environment have no such " + std::string{what} + ".");
}

http_response refuse_error(api_parts& with, const api_call& call, const error& failure) {
  switch (failure.kind) {
  case error_kind::in_doubt:
    return refuse_for_now(503, "in_doubt",
                          "It may have been done, or not. Repeat the request; with the same "
                          "Idempotency-Key it is done once.",
                          std::chrono::seconds{1});
  case error_kind::unavailable:
  case error_kind::conflict:
  case error_kind::timeout:
  case error_kind::overloaded:
    with.log.warn("a request could not be served for now",
                  {{"request_id", call.request.id}, {"why", failure.text}});
    return refuse_for_now(503, "unavailable",
                          "The database can't be used right now; nothing was done. Repeat the "
                          "request.",
                          std::chrono::seconds{1});
  case error_kind::not_found:
    return not_found("thing");
  case error_kind::refused:
    return problem(409, "conflict", failure.text);
  case error_kind::invalid:
    return problem(422, "refused", failure.text);
  case error_kind::data:
    return problem(422, "not_storable",
                   "A value of the request can't be stored. Check it for unusual characters.");
  case error_kind::internal:
    break;
  }
  with.log.error("a request failed", {{"request_id", call.request.id}, {"why", failure.text}});
  return problem(500, "internal", "This is a fault of Paceline, and it is logged.");
}

std::variant<json_document, http_response> read_json_body(const http_request& request) {
  query_fields query{request};
  if (!query.finish())
    return refuse_fields(query.problems());
  const auto type = request.header("Content-Type");
  if (!type || !is_json(*type))
    return problem(415, "unsupported_media_type",
                   "The body must be JSON, and the Content-Type header application/json.");
  auto document = json_document::read(request.body, message_request::opaque_key);
  if (auto* wrong = std::get_if<field_problem>(&document))
    return problem(400, "invalid_json", "The body is not one JSON object: " + wrong->detail + ".",
                   {*wrong});
  return std::get<json_document>(std::move(document));
}

std::optional<http_response> refuse_body(const http_request& request) {
  std::string text;
  std::copy_if(request.body.begin(), request.body.end(), std::back_inserter(text),
               [](char c) { return c != ' ' && c != '\t' && c != '\r' && c != '\n'; });
  if (text.empty() || text == "{}")
    return std::nullopt;
  return refuse_field(400, "invalid_field", "", "this request has no body, or {}");
}

std::string actor_of(const api_call& call) {
  return "key:" + std::to_string(call.key->id.value());
}

bool is_of_environment(const api_call& call, std::string_view route) {
  return route.substr(0, route.find(':')) == call.key->environment;
}

} // namespace paceline
