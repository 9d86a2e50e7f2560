#include "storage/suppressions.hpp"

#include <algorithm>

#include "transport/api/answers.hpp"
#include "transport/api/campaign_request.hpp"
#include "transport/api/json_output.hpp"
#include "transport/api/query_fields.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

constexpr std::string_view cursor_kind = "s";

void write(json_output& out, const suppression& one) {
  out.begin_object().member("address", one.address).member("reason", one.reason);
  out.member("created_at", one.created_at).end_object();
}

/// The suppression that the path names, in whatever spelling, or why not.
std::variant<suppression, http_response> find_named(api_parts& with, const api_call& call) {
  query_fields query{call.request};
  if (!query.finish())
    return refuse_fields(query.problems());
  const auto checked = check_address(call.parameters.at(0));
  if (!checked.address)
    return not_found("suppression"); // what is no address is not suppressed
  auto found = with.database.run([&call, &checked](session& on) {
    return find_suppression(on, call.key->project, call.key->environment, *checked.address);
  });
  if (found)
    return std::move(*found);
  return found.failure().kind == error_kind::not_found ? not_found("suppression")
                                                       : refuse_error(with, call, found.failure());
}

} // namespace

http_response get_suppressions(api_parts& with, const api_call& call) {
  query_fields query{call.request};
  const auto limit = static_cast<std::int32_t>(query.integer("limit", 1, 1000).value_or(50));
  std::string after;
  if (const auto cursor = query.text("cursor", 1000)) {
    if (const auto last = read_cursor(cursor_kind, *cursor))
      after = *last;
    else
      query.add("cursor", "is none that this list has given as next");
  }
  if (!query.finish())
    return refuse_fields(query.problems());
  const auto page = with.database.run([&](session& on) {
    return list_suppressions(on, call.key->project, call.key->environment, after, limit);
  });
  if (!page)
    return refuse_error(with, call, page.failure());
  json_output out;
  out.begin_object().name("suppressions").begin_array();
  for (const auto& one : *page)
    write(out, one);
  out.end_array();
  const bool is_last = page->size() < static_cast<std::size_t>(limit);
  out.member_or_null("next",
                     is_last ? std::string{} : make_cursor(cursor_kind, page->back().address));
  return json_answer(200, out.end_object().take());
}

http_response post_suppressions(api_parts& with, const api_call& call) {
  const auto body = read_json_body(call.request);
  if (const auto* refused = std::get_if<http_response>(&body))
    return *refused;
  problem_list problems;
  const auto wanted = read_suppressions(std::get<json_document>(body).root(), problems);
  if (!problems.is_empty())
    return refuse_fields(problems);
  const auto added = with.database.run_slow([&](session& on) {
    return add_suppressions(on, call.key->project, call.key->environment, wanted.addresses,
                            wanted.reason, actor_of(call));
  });
  if (!added)
    return refuse_error(with, call, added.failure());
  json_output out;
  out.begin_object().member("added", *added);
  out.member("addresses", wanted.addresses.size());
  return json_answer(200, out.end_object().take());
}

http_response get_suppression(api_parts& with, const api_call& call) {
  const auto found = find_named(with, call);
  if (const auto* refused = std::get_if<http_response>(&found))
    return *refused;
  json_output out;
  write(out, std::get<suppression>(found));
  return json_answer(200, out.take());
}

http_response delete_suppression(api_parts& with, const api_call& call) {
  const auto found = find_named(with, call);
  if (const auto* refused = std::get_if<http_response>(&found))
    return *refused;
  const auto removed = with.database.run_slow([&](session& on) {
    return remove_suppressions(on, call.key->project, call.key->environment,
                               {std::get<suppression>(found).address}, actor_of(call));
  });
  if (!removed)
    return refuse_error(with, call, removed.failure());
  return {204, {}, {}, {}};
}

} // namespace paceline
