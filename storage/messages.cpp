#include "storage/messages.hpp"

#include <chrono>
#include <limits>

#include "storage/audit.hpp"
#include "storage/intake.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"
#include "storage/streams.hpp"
#include "storage/wall_clock.hpp"

namespace paceline {
namespace {

constexpr std::size_t most_recipients = 50;
constexpr std::int32_t most_listed = 1000;
constexpr std::int32_t most_examined = 20'000;

std::optional<unix_us> after(unix_us now, const std::optional<nanoseconds>& wait) {
  if (!wait)
    return std::nullopt;
  return now + std::chrono::duration_cast<std::chrono::microseconds>(*wait).count();
}

message_view read_view(const pqxx::row& row) {
  message_view view;
  view.id = message_id{row["id"].as<std::int64_t>()};
  view.stream = stream_id{row["stream"].as<std::int64_t>()};
  view.project = project_id{row["project"].as<std::int64_t>()};
  view.key = key_id{row["key"].as<std::int64_t>()};
  view.route = row["route"].c_str();
  view.status = static_cast<message_status>(row["status"].as<std::int16_t>());
  view.reason = static_cast<reason_code>(row["reason"].as<std::int16_t>());
  view.version = row["version"].as<std::int32_t>();
  view.throttles = row["throttles"].as<std::int16_t>();
  view.recipients = parse_text_array(row["recipients"].c_str());
  view.subject = row["subject"].c_str();
  // libpqxx gives an empty text for NULL, which is what the view promises.
  view.tags = row["tags"].c_str();
  view.addresses = row["addresses"].c_str();
  view.provider_id = row["provider_id"].c_str();
  view.diagnostic = row["diagnostic"].c_str();
  view.created_at = row["created_at"].c_str();
  view.due_at = row["due_at"].c_str();
  view.changed_at = row["changed_at"].c_str();
  view.started_at = row["started_at"].c_str();
  view.expires_at = row["expires_at"].c_str();
  return view;
}

error no_such_message(message_id id) {
  return {error_kind::not_found, "there is no message " + std::to_string(id.value())};
}

/// Inside the transaction of `resolve_message`: the same content to the same people, as direct
/// mail of the operator.
result<message_id> send_again(session& on, id_source& ids, message_id old, stream_id direct) {
  const auto origin = on.run(sql::message_origin, old);
  if (!origin)
    return origin.failure();
  const auto row = (*origin)[0];
  intake_message fresh;
  fresh.id = message_id{ids.next(wall_clock_ms())};
  fresh.stored_content = content_id{row["content"].as<std::int64_t>()};
  fresh.resend_of = old;
  fresh.recipients = parse_text_array(row["recipients"].c_str());
  fresh.fields = row["fields"].c_str();
  intake_call call;
  call.project = project_id{row["project"].as<std::int64_t>()};
  call.route = route_id{row["route"].as<std::int64_t>()};
  call.stream = direct;
  call.messages.push_back(std::move(fresh));
  const intake_call* const only[] = {&call};
  const auto stored = take_in(on, only);
  if (!stored)
    return stored.failure();
  return call.messages.front().id;
}

/// The stream that a second try of `old` belongs to.
result<stream_id> direct_stream_of(session& on, message_id old) {
  const auto origin = on.run(sql::message_origin, old);
  if (!origin)
    return origin.failure();
  if (origin->empty())
    return no_such_message(old);
  const auto row = (*origin)[0];
  return direct_stream(on, route_id{row["route"].as<std::int64_t>()},
                       project_id{row["project"].as<std::int64_t>()});
}

error why_not_canceled(const message_view& message) {
  std::string text =
      "message " + std::to_string(message.id.value()) + " is " + std::string{name(message.status)};
  if (message.status == message_status::queued)
    text += " in a campaign that has not got to it yet: cancel the campaign";
  else if (message.status == message_status::attempting)
    text += ": its call may have started";
  return {error_kind::refused, text};
}

result<resolved_message> close_unknown(session& on, message_id old, message_status status,
                                       std::int32_t writer) {
  const auto rows = on.run(sql::resolve_unknown, old, static_cast<int>(status), writer);
  if (!rows)
    return rows.failure();
  if ((*rows)[0][0].as<std::int64_t>() == 1)
    return resolved_message{old, std::nullopt};
  const auto found = show_message(on, old);
  if (!found)
    return found.failure();
  return error{error_kind::refused, "message " + std::to_string(old.value()) + " is "
                                        + std::string{name(found->status)}
                                        + ": only acceptance_unknown can be resolved"};
}

} // namespace

result<message_id> accept_message(session& on, id_source& ids, const new_message& message,
                                  std::string_view actor) {
  if (message.recipients.empty() || message.recipients.size() > most_recipients)
    return error{error_kind::invalid, "recipients: 1 to 50 are allowed"};
  const auto stream = direct_stream(on, message.route, message.project, message.priority);
  if (!stream)
    return stream.failure();
  const auto now = database_time(on);
  if (!now)
    return now.failure();
  intake_call call;
  call.project = message.project;
  call.key = message.key;
  call.route = message.route;
  call.stream = *stream;
  call.contents.push_back(message.what);
  call.contents.back().id = content_id{ids.next(wall_clock_ms())};
  auto& one = call.messages.emplace_back();
  one.id = message_id{ids.next(wall_clock_ms())};
  one.recipients = message.recipients;
  one.fields = message.fields;
  one.send_at = after(*now, message.send_in);
  one.expires_at = after(*now, message.expires_in);
  return on.in_transaction([&](session& open) -> result<message_id> {
    const intake_call* const only[] = {&call};
    const auto stored = take_in(open, only);
    if (!stored)
      return stored.failure();
    if (stored->front().verdict == intake_verdict::key_ended)
      return error{error_kind::refused, "key: it is revoked or has expired"};
    if (!actor.empty())
      if (const auto noted =
              write_audit(open, actor, "message.send", std::to_string(one.id.value()));
          !noted)
        return noted.failure();
    return one.id;
  });
}

result<message_view> show_message(session& on, message_id id) {
  const auto rows = on.run(sql::find_messages, id, id.value() + 1, std::nullopt, std::nullopt,
                           std::nullopt, std::nullopt, std::nullopt, 1, 1);
  if (!rows)
    return rows.failure();
  if (rows->empty() || (*rows)[0]["id"].is_null())
    return no_such_message(id);
  return read_view((*rows)[0]);
}

result<message_page> list_messages(session& on, const message_filter& filter) {
  if (filter.limit < 1 || filter.limit > most_listed)
    return error{error_kind::invalid, "limit: 1 to 1000 are allowed"};
  const auto before =
      filter.before.value() == 0 ? std::numeric_limits<std::int64_t>::max() : filter.before.value();
  std::optional<int> status;
  if (filter.status)
    status = static_cast<int>(*filter.status);
  const auto rows = on.run(sql::find_messages, 0, before, filter.campaign, status, filter.recipient,
                           filter.project, filter.environment, filter.limit, most_examined);
  if (!rows)
    return rows.failure();
  message_page page;
  for (const auto& row : *rows)
    if (!row["id"].is_null())
      page.rows.push_back(read_view(row));
  // A full page goes on behind its last row; one that ran out of rows to examine behind the last of
  // those, unless they were all there are.
  if (static_cast<std::int32_t>(page.rows.size()) == filter.limit)
    page.next = page.rows.back().id;
  else if (!rows->empty() && (*rows)[0]["examined"].as<std::int64_t>() == most_examined)
    page.next = message_id{(*rows)[0]["examined_to"].as<std::int64_t>()};
  return page;
}

result<message_view> cancel_message(session& on, message_id id, std::int32_t writer,
                                    std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<message_view> {
    const auto canceled = open.run(sql::cancel_queued, id, writer);
    if (!canceled)
      return canceled.failure();
    auto now = show_message(open, id);
    if (!now)
      return now;
    const bool changed = (*canceled)[0][0].as<std::int64_t>() == 1;
    if (!changed && now->status != message_status::canceled)
      return why_not_canceled(*now);
    if (changed)
      if (auto noted = write_audit(open, actor, "message.cancel", std::to_string(id.value()));
          !noted)
        return noted.failure();
    return now;
  });
}

result<resolved_message> resolve_message(session& on, id_source& ids, message_id old,
                                         resolution how, std::int32_t writer,
                                         std::string_view actor) {
  std::optional<stream_id> direct;
  if (how == resolution::send_again) {
    const auto found = direct_stream_of(on, old);
    if (!found)
      return found.failure();
    direct = *found;
  }
  const auto status =
      how == resolution::accepted ? message_status::accepted : message_status::rejected;
  return on.in_transaction([&](session& open) -> result<resolved_message> {
    auto closed = close_unknown(open, old, status, writer);
    if (!closed)
      return closed;
    if (direct) {
      const auto fresh = send_again(open, ids, old, *direct);
      if (!fresh)
        return fresh.failure();
      closed->resent_as = *fresh;
    }
    const auto noted = write_audit(open, actor, "message.resolve", std::to_string(old.value()),
                                   direct                        ? R"({"as":"send-again"})"
                                   : how == resolution::accepted ? R"({"as":"accepted"})"
                                                                 : R"({"as":"rejected"})");
    if (!noted)
      return noted.failure();
    return closed;
  });
}

} // namespace paceline
