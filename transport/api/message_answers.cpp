#include "storage/messages.hpp"

#include "storage/suppressions.hpp"
#include "transport/api/answers.hpp"
#include "transport/api/message_json.hpp"
#include "transport/api/query_fields.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

constexpr std::string_view cursor_kind = "m";

bool is_callers(const api_call& call, const message_view& message) {
  return message.project == call.key->project && is_of_environment(call, message.route);
}

http_response show(const message_view& message) {
  json_output out;
  write_message(out, message, true);
  return json_answer(200, out.take());
}

/// The message of the path, if it is the caller's.
result<message_view> find_message(api_parts& with, const api_call& call) {
  const auto id = read_id(call.parameters.at(0));
  const error missing{error_kind::not_found, {}};
  if (!id)
    return missing;
  auto found = with.database.run([id](session& on) { return show_message(on, message_id{*id}); });
  if (found && !is_callers(call, *found))
    return missing;
  return found;
}

message_filter read_filter(const api_call& call, query_fields& query) {
  message_filter filter;
  filter.project = call.key->project;
  filter.environment = call.key->environment;
  if (const auto campaign = query.integer("campaign", 1, INT64_MAX))
    filter.campaign = stream_id{*campaign};
  if (const auto status = query.text("status", 40)) {
    filter.status = parse_status(*status);
    if (!filter.status)
      query.add("status", "must be a state's name, such as queued, attempting, accepted, "
                          "acceptance_unknown, rejected, suppressed, canceled or expired");
  }
  if (const auto recipient = query.text("recipient")) {
    auto checked = check_address(*recipient);
    if (checked.address)
      filter.recipient = normalized_address(*checked.address);
    else
      query.add("recipient", std::move(checked.problem));
  }
  filter.limit = static_cast<std::int32_t>(query.integer("limit", 1, 1000).value_or(50));
  if (const auto cursor = query.text("cursor")) {
    const auto last = read_cursor(cursor_kind, *cursor);
    const auto id = last ? read_id(*last) : std::nullopt;
    if (id)
      filter.before = message_id{*id};
    else
      query.add("cursor", "is none that this list has given as next");
  }
  return filter;
}

} // namespace

http_response get_message(api_parts& with, const api_call& call) {
  query_fields query{call.request};
  if (!query.finish())
    return refuse_fields(query.problems());
  const auto found = find_message(with, call);
  if (!found)
    return found.failure().kind == error_kind::not_found
               ? not_found("message")
               : refuse_error(with, call, found.failure());
  return show(*found);
}

http_response get_messages(api_parts& with, const api_call& call) {
  query_fields query{call.request};
  const auto filter = read_filter(call, query);
  if (!query.finish())
    return refuse_fields(query.problems());
  const auto page = with.database.run([&filter](session& on) { return list_messages(on, filter); });
  if (!page)
    return refuse_error(with, call, page.failure());
  json_output out;
  out.begin_object().name("messages").begin_array();
  for (const auto& message : page->rows)
    write_message(out, message, false);
  out.end_array();
  const auto next = page->next.value();
  out.member_or_null("next",
                     next == 0 ? std::string{} : make_cursor(cursor_kind, std::to_string(next)));
  return json_answer(200, out.end_object().take());
}

http_response post_message_cancel(api_parts& with, const api_call& call) {
  if (auto refused = refuse_body(call.request))
    return *refused;
  query_fields query{call.request};
  if (!query.finish())
    return refuse_fields(query.problems());
  const auto found = find_message(with, call);
  auto canceled = found;
  if (found)
    canceled = with.database.run_slow([&with, &call, id = found->id](session& on) {
      return cancel_message(on, id, with.writer, actor_of(call));
    });
  if (canceled)
    return show(*canceled);
  return canceled.failure().kind == error_kind::not_found
             ? not_found("message")
             : refuse_error(with, call, canceled.failure());
}

} // namespace paceline
