#include "storage/claims.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "storage/clean_text.hpp"
#include "storage/route_row.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

/// The arrays of one `reserve_due`.
struct source_columns {
  std::vector<stream_id> streams;
  std::vector<std::optional<std::int64_t>> due_us;
  std::vector<message_id> ids;
  std::vector<std::int32_t> limits;
  std::vector<std::int32_t> parts;
};

source_columns columns_of(const reserve_request& request) {
  source_columns columns;
  for (const auto& source : request.sources) {
    columns.streams.push_back(source.stream);
    columns.ids.push_back(source.after.id);
    columns.parts.push_back(source.part == reserve_part::own ? request.index : request.other);
    std::optional<std::int64_t> due_us;
    if (source.after.due != database_instant::min())
      due_us = duration_cast<microseconds>(source.after.due.time_since_epoch()).count();
    columns.due_us.push_back(due_us);
    columns.limits.push_back(source.limit);
  }
  return columns;
}

std::optional<std::string> optional_text(const pqxx::field& field) {
  if (field.is_null())
    return std::nullopt;
  return field.c_str();
}

due_message read_due_message(const pqxx::row& row, stream_id stream) {
  due_message message;
  message.of = {message_id{row[1].as<std::int64_t>()}, row[2].as<std::int32_t>()};
  message.due_at = database_instant{microseconds{row[3].as<std::int64_t>()}};
  message.stream = stream;
  message.cost = row[4].as<std::int16_t>();
  message.throttles = row[5].as<std::int16_t>();
  message.project = project_id{row[6].as<std::int64_t>()};
  message.key = key_id{row[7].as<std::int64_t>()};
  message.content = content_id{row[8].as<std::int64_t>()};
  message.recipients = parse_text_array(row[9].c_str());
  message.fields = row[10].c_str();
  message.tags = optional_text(row[11]);
  message.addresses = optional_text(row[12]);
  message.alone = row[13].as<bool>();
  return message;
}

/// Ids and versions side by side, as most statements take them.
struct attempt_columns {
  std::vector<message_id> ids;
  std::vector<std::int32_t> versions;

  void add(const attempt& of) {
    ids.push_back(of.message);
    versions.push_back(of.version);
  }
};

attempt_columns columns_of(const std::vector<attempt>& attempts) {
  attempt_columns columns;
  for (const auto& of : attempts)
    columns.add(of);
  return columns;
}

struct claim_columns {
  attempt_columns attempts;
  std::vector<stream_id> streams; ///< sorted, each once
  std::vector<key_id> keys;       ///< of the attempts
  std::vector<key_id> used_keys;  ///< sorted, each once, without "none"
  std::vector<message_id> address_messages;
  std::vector<project_id> address_projects;
  std::vector<stream_id> address_streams;
  std::vector<std::string_view> addresses;
};

template <class Id>
void keep_each_once(std::vector<Id>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

claim_columns columns_of(const claim_request& request) {
  claim_columns columns;
  for (const auto& row : request.rows) {
    columns.attempts.add(row.of);
    columns.streams.push_back(row.stream);
    columns.keys.push_back(row.key);
    if (row.key != key_id{})
      columns.used_keys.push_back(row.key);
    for (const auto& address : row.recipients) {
      columns.address_messages.push_back(row.of.message);
      columns.address_projects.push_back(row.project);
      columns.address_streams.push_back(row.stream);
      columns.addresses.push_back(address);
    }
  }
  keep_each_once(columns.streams);
  keep_each_once(columns.used_keys);
  return columns;
}

std::vector<message_id> read_ids(const pqxx::field& field) {
  std::vector<message_id> ids;
  if (field.is_null())
    return ids;
  for (const auto& text : parse_text_array(field.c_str()))
    ids.emplace_back(std::stoll(text));
  return ids;
}

claim_reply read_claim(const pqxx::row& row, const claim_request& request) {
  claim_reply reply;
  reply.still_owner = true;
  reply.route = reading_from(row);
  std::unordered_map<message_id, bool> claimed;
  const auto ids = read_ids(row["ids"]);
  const auto may_start =
      ids.empty() ? std::vector<std::string>{} : parse_text_array(row["may_start"].c_str());
  for (std::size_t i = 0; i < ids.size(); ++i)
    claimed.emplace(ids[i], may_start.at(i) == "t");
  std::unordered_multimap<message_id, std::string> blocked;
  const auto blocked_ids = read_ids(row["blocked_ids"]);
  auto addresses = blocked_ids.empty() ? std::vector<std::string>{}
                                       : parse_text_array(row["blocked_addresses"].c_str());
  for (std::size_t i = 0; i < blocked_ids.size(); ++i)
    blocked.emplace(blocked_ids[i], std::move(addresses.at(i)));
  for (const auto& asked : request.rows) {
    const auto found = claimed.find(asked.of.message);
    if (found == claimed.end())
      continue;
    claimed_row& mine = reply.rows.emplace_back(claimed_row{asked.of, found->second, {}});
    const auto [first, last] = blocked.equal_range(asked.of.message);
    // A row that may not start is not sent at all, so that it may have lost all its recipients.
    for (auto it = first; mine.may_start && it != last; ++it)
      mine.suppressed.push_back(it->second);
  }
  return reply;
}

result<std::int64_t> first_number(const result<pqxx::result>& rows) {
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<std::int64_t>();
}

} // namespace

result<std::vector<reserve_page>> reserve_due(session& on, const reserve_request& request) {
  const auto columns = columns_of(request);
  const auto rows =
      on.run(sql::reserve_due, array_literal(columns.streams), array_literal(columns.due_us),
             array_literal(columns.ids), array_literal(columns.limits), request.count,
             array_literal(columns.parts));
  if (!rows)
    return rows.failure();
  std::vector<reserve_page> pages;
  for (const auto& source : request.sources)
    pages.push_back({source.stream, source.part, {}, false});
  for (const auto& row : *rows) {
    auto& page = pages.at(row[0].as<std::size_t>() - 1);
    page.rows.push_back(read_due_message(row, page.stream));
  }
  for (std::size_t i = 0; i < pages.size(); ++i)
    pages[i].exhausted = pages[i].rows.size() < static_cast<std::size_t>(request.sources[i].limit);
  return pages;
}

result<claim_reply> claim_group(session& on, const claim_request& request) {
  const auto columns = columns_of(request);
  const auto rows =
      on.run(sql::claim_group, request.shard, request.epoch, request.group_no, request.gate,
             array_literal(columns.streams), array_literal(columns.attempts.ids),
             array_literal(columns.attempts.versions), array_literal(columns.address_messages),
             array_literal(columns.address_projects), text_array_literal(columns.addresses),
             array_literal(columns.used_keys), array_literal(columns.keys),
             array_literal(columns.address_streams));
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return claim_reply{};
  return read_claim((*rows)[0], request);
}

result<std::int64_t> settle_skipped(session& on, const std::vector<attempt>& attempts,
                                    std::int32_t writer) {
  const auto columns = columns_of(attempts);
  return first_number(on.run(sql::settle_skipped, array_literal(columns.ids),
                             array_literal(columns.versions), writer));
}

result<std::int64_t> reject_unsent(session& on, const std::vector<preflight_failure>& failures,
                                   std::int32_t writer) {
  attempt_columns columns;
  std::vector<std::int16_t> statuses, reasons;
  std::vector<std::string> diagnostics;
  for (const auto& failure : failures) {
    if (failure.status != message_status::rejected
        && failure.status != message_status::rendering_failed)
      return error{error_kind::invalid, "status: must be rejected or rendering_failed"};
    columns.add(failure.of);
    statuses.push_back(static_cast<std::int16_t>(failure.status));
    reasons.push_back(static_cast<std::int16_t>(failure.reason));
    diagnostics.push_back(clean_text(failure.diagnostic));
  }
  return first_number(on.run(sql::reject_unsent, array_literal(columns.ids),
                             array_literal(columns.versions), array_literal(statuses),
                             array_literal(reasons), text_array_literal(diagnostics), writer));
}

result<std::int64_t> postpone(session& on, const std::vector<attempt>& attempts,
                              nanoseconds delay) {
  const auto columns = columns_of(attempts);
  return first_number(on.run(sql::postpone, array_literal(columns.ids),
                             array_literal(columns.versions),
                             duration_cast<microseconds>(delay).count()));
}

} // namespace paceline
