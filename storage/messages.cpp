#include "storage/messages.hpp"

#include <chrono>
#include <limits>

#include "storage/content_row.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"
#include "storage/streams.hpp"
#include "storage/wall_clock.hpp"

namespace paceline {
namespace {

constexpr std::size_t most_recipients = 50;
constexpr std::int32_t most_listed = 1000;
constexpr std::int32_t most_examined = 20'000;

std::optional<std::int64_t> count_us(const std::optional<nanoseconds>& duration) {
  if (!duration)
    return std::nullopt;
  return std::chrono::duration_cast<std::chrono::microseconds>(*duration).count();
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
/// mail.
result<message_id> send_again(session& on, id_source& ids, message_id old, stream_id direct) {
  const auto origin = on.run(sql::message_origin, old);
  if (!origin)
    return origin.failure();
  const auto row = (*origin)[0];
  const message_id fresh{ids.next(wall_clock_ms())};
  const auto inserted =
      on.run(sql::insert_direct_message, fresh, row["project"].as<std::int64_t>(), direct,
             row["content"].as<std::int64_t>(), row["recipients"].c_str(), row["fields"].c_str(),
             row["route"].as<std::int32_t>(), 0, std::nullopt, old);
  if (!inserted)
    return inserted.failure();
  return fresh;
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

result<message_id> accept_message(session& on, id_source& ids, const new_message& message) {
  if (message.recipients.empty() || message.recipients.size() > most_recipients)
    return error{error_kind::invalid, "recipients: 1 to 50 are allowed"};
  const auto stream = direct_stream(on, message.route, message.project);
  if (!stream)
    return stream.failure();
  return on.in_transaction([&](session& open) -> result<message_id> {
    content what = message.what;
    what.id = content_id{ids.next(wall_clock_ms())};
    if (auto stored = insert_content(open, message.project, what); !stored)
      return stored.failure();
    const message_id id{ids.next(wall_clock_ms())};
    const auto inserted =
        open.run(sql::insert_direct_message, id, message.project, *stream, what.id,
                 text_array_literal(message.recipients), message.fields, message.route,
                 count_us(message.send_in).value_or(0), count_us(message.expires_in), std::nullopt);
    if (!inserted)
      return inserted.failure();
    return id;
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

result<resolved_message> resolve_message(session& on, id_source& ids, message_id old,
                                         resolution how, std::int32_t writer) {
  if (how == resolution::accepted)
    return close_unknown(on, old, message_status::accepted, writer);
  if (how == resolution::rejected)
    return close_unknown(on, old, message_status::rejected, writer);
  const auto direct = direct_stream_of(on, old);
  if (!direct)
    return direct.failure();
  return on.in_transaction([&](session& open) -> result<resolved_message> {
    auto closed = close_unknown(open, old, message_status::rejected, writer);
    if (!closed)
      return closed;
    const auto fresh = send_again(open, ids, old, *direct);
    if (!fresh)
      return fresh.failure();
    closed->resent_as = *fresh;
    return closed;
  });
}

} // namespace paceline
