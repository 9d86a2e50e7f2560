#include "storage/wall_clock.hpp"

#include "transport/api/answers.hpp"
#include "transport/api/json_output.hpp"
#include "transport/api/mailboxes.hpp"
#include "transport/api/preview_request.hpp"

namespace paceline {
namespace {

void write_names(json_output& out, std::string_view name, const std::vector<std::string>& names) {
  out.name(name).begin_array();
  for (const auto& one : names)
    out.value(one);
  out.end_array();
}

std::string show(const mail_preview& made) {
  json_output out;
  out.begin_object().member("subject", made.subject);
  out.member("text", made.text_body).member("html", made.html_body);
  out.name("headers").begin_object();
  for (const auto& [name, value] : made.headers)
    out.member(name, value);
  out.end_object().member("size", made.raw.size());
  write_names(out, "fields", made.fields.used);
  write_names(out, "missing", made.fields.missing);
  return out.end_object().take();
}

} // namespace

http_response post_preview(api_parts&, const api_call& call) {
  const auto body = read_json_body(call.request);
  if (const auto* refused = std::get_if<http_response>(&body))
    return *refused;
  problem_list problems;
  auto wanted = read_preview(std::get<json_document>(body).root(), problems);
  if (!problems.is_empty())
    return refuse_fields(problems);
  if (!is_sender_domain(wanted.content.sender_domain, call.key->sender_domains))
    return refuse_field(403, "sender_not_allowed", "/from",
                        "the project may not send from " + wanted.content.sender_domain);
  wanted.message.unix_seconds = wall_clock_ms() / 1000;
  const auto made = make_preview(wanted.content.what, wanted.message);
  if (!made)
    return refuse_field(422, "not_sendable", "", made.failure().text);
  return json_answer(200, show(*made));
}

} // namespace paceline
