#include "storage/intake.hpp"

#include <algorithm>
#include <string_view>

#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

using call_list = std::vector<const intake_call*>;

/// An array of which nothing is sent as long as every element is the default.
template <class T>
class sparse_column {
public:
  void add(std::optional<T> value) {
    holds_any_ = holds_any_ || value.has_value();
    values_.push_back(std::move(value));
  }
  std::string literal() const {
    if (!holds_any_)
      return "{}";
    if constexpr (std::is_integral_v<T>)
      return array_literal(values_);
    else
      return text_array_literal(values_);
  }

private:
  std::vector<std::optional<T>> values_;
  bool holds_any_ = false;
};

/// Nothing where the value is the one that most rows have.
template <class T>
std::optional<T> unless(T value, T usual) {
  return value == usual ? std::nullopt : std::optional<T>{std::move(value)};
}

std::int64_t first_content(const intake_call& call) {
  return call.contents.empty() ? 0 : call.contents.front().id.value();
}

struct call_columns {
  std::vector<project_id> projects;
  std::vector<key_id> keys;
  std::vector<std::string_view> environments;
  std::vector<route_id> routes;
  std::vector<stream_id> streams;
  std::vector<std::size_t> sizes;
  std::vector<std::optional<std::string>> once, hashes, responses;
  std::vector<std::int16_t> statuses;
  std::vector<std::int64_t> first_contents;

  void add(const intake_call& call) {
    projects.push_back(call.project);
    keys.push_back(call.key);
    environments.push_back(call.environment);
    routes.push_back(call.route);
    streams.push_back(call.stream);
    sizes.push_back(call.messages.size());
    first_contents.push_back(first_content(call));
    statuses.push_back(call.once ? call.once->status : std::int16_t{0});
    if (!call.once) {
      for (auto* column : {&once, &hashes, &responses})
        column->emplace_back();
      return;
    }
    once.emplace_back(call.once->key);
    hashes.emplace_back(bytea_literal(call.once->body_hash));
    responses.emplace_back(call.once->response);
  }

  void append_to(std::vector<parameter>& to) const {
    to.insert(to.end(),
              {array_literal(projects), array_literal(keys), text_array_literal(environments),
               array_literal(routes), array_literal(streams), array_literal(sizes),
               text_array_literal(once), text_array_literal(hashes), array_literal(statuses),
               text_array_literal(responses)});
  }
};

struct attachment_columns {
  std::vector<content_id> contents;
  std::vector<std::size_t> calls, positions;
  std::vector<std::string_view> names, media_types, content_ids;
  std::vector<std::string> data;

  void add(std::size_t call, const content& what) {
    for (std::size_t i = 0; i < what.attachments.size(); ++i) {
      const auto& one = what.attachments[i];
      contents.push_back(what.id);
      calls.push_back(call);
      positions.push_back(i);
      names.push_back(one.name);
      media_types.push_back(one.media_type);
      content_ids.push_back(one.content_id);
      data.push_back(
          bytea_literal({reinterpret_cast<const std::uint8_t*>(one.data.data()), one.data.size()}));
    }
  }

  void append_to(std::vector<parameter>& to) const {
    to.insert(to.end(), {array_literal(contents), array_literal(calls), array_literal(positions),
                         text_array_literal(names), text_array_literal(media_types),
                         text_array_literal(content_ids), text_array_literal(data)});
  }
};

struct content_columns {
  std::vector<content_id> ids;
  std::vector<std::size_t> calls;
  std::vector<std::string> hashes;
  std::vector<std::string_view> senders, subjects, texts, htmls, headers;
  sparse_column<std::int16_t> missing;
  sparse_column<std::string_view> defaults;
  attachment_columns attachments;

  void add(std::size_t call, const content& what) {
    ids.push_back(what.id);
    calls.push_back(call);
    hashes.push_back(bytea_literal(content_hash(what)));
    senders.push_back(what.sender);
    subjects.push_back(what.subject);
    texts.push_back(what.text_body);
    htmls.push_back(what.html_body);
    headers.push_back(what.headers);
    missing.add(unless<std::int16_t>(static_cast<std::int16_t>(what.missing), 0));
    defaults.add(unless<std::string_view>(what.defaults, "{}"));
    attachments.add(call, what);
  }

  void append_to(std::vector<parameter>& to) const {
    to.insert(to.end(),
              {array_literal(ids), array_literal(calls), text_array_literal(hashes),
               text_array_literal(senders), text_array_literal(subjects), text_array_literal(texts),
               text_array_literal(htmls), text_array_literal(headers)});
  }
  /// The rest, which most contents don't have: at the end of the statement's parameters.
  void append_rest_to(std::vector<parameter>& to) const {
    to.insert(to.end(), {missing.literal(), defaults.literal()});
    attachments.append_to(to);
  }
};

content_id content_of(const intake_call& call, const intake_message& message) {
  return message.stored_content != content_id{} ? message.stored_content
                                                : call.contents.at(message.content).id;
}

std::optional<std::string_view> view_of(const std::optional<std::string>& text) {
  return text ? std::optional<std::string_view>{*text} : std::nullopt;
}

/// Texts are views into the calls, which outlive the columns.
struct message_columns {
  std::vector<message_id> ids;
  std::vector<std::string> literals; ///< of several recipients each; reserved, so that views hold
  std::vector<std::string_view> recipients;
  sparse_column<std::size_t> calls, costs;
  sparse_column<std::string_view> fields, tags, addresses;
  sparse_column<std::int64_t> contents, resend_of, due, expiry;

  explicit message_columns(std::size_t count) {
    ids.reserve(count);
    literals.reserve(count);
    recipients.reserve(count);
  }

  void add(std::size_t call, const intake_call& of, const intake_message& message) {
    ids.push_back(message.id);
    calls.add(unless<std::size_t>(call, 1));
    contents.add(unless(content_of(of, message).value(), first_content(of)));
    if (message.recipients.size() == 1) {
      recipients.push_back(message.recipients.front());
    } else {
      literals.push_back(text_array_literal(message.recipients));
      recipients.push_back(literals.back());
    }
    costs.add(unless<std::size_t>(message.recipients.size(), 1));
    fields.add(unless<std::string_view>(message.fields, "{}"));
    tags.add(view_of(message.tags));
    addresses.add(view_of(message.addresses));
    resend_of.add(unless<std::int64_t>(message.resend_of.value(), 0));
    due.add(message.send_at);
    expiry.add(message.expires_at);
  }

  void append_to(std::vector<parameter>& to) const {
    to.insert(to.end(),
              {array_literal(ids), calls.literal(), contents.literal(),
               text_array_literal(recipients), costs.literal(), fields.literal(), tags.literal(),
               addresses.literal(), resend_of.literal(), due.literal(), expiry.literal()});
  }
};

std::vector<parameter> parameters_of(const call_list& calls) {
  call_columns columns;
  content_columns contents;
  std::size_t count = 0;
  for (const auto* call : calls)
    count += call->messages.size();
  message_columns messages{count};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    columns.add(*calls[i]);
    for (const auto& what : calls[i]->contents)
      contents.add(i + 1, what);
    for (const auto& message : calls[i]->messages)
      messages.add(i + 1, *calls[i], message);
  }
  std::vector<parameter> parameters;
  columns.append_to(parameters);
  contents.append_to(parameters);
  messages.append_to(parameters);
  parameters.emplace_back(array_literal(columns.first_contents));
  contents.append_rest_to(parameters);
  return parameters;
}

/// What the holder of an idempotency key has answered, where he has.
intake_reply read_answer(const pqxx::row& row) {
  if (row["same"].is_null())
    return {intake_verdict::in_work, 0, {}};
  if (!row["same"].as<bool>())
    return {intake_verdict::other_body, 0, {}};
  return {intake_verdict::replayed, row["status"].as<std::int16_t>(), row["response"].c_str()};
}

struct asker {
  project_id project;
  std::string_view environment;
  const idempotency* once;
};

result<std::vector<intake_reply>> find_answers(session& on, const std::vector<asker>& askers) {
  std::vector<project_id> projects;
  std::vector<std::string_view> environments;
  std::vector<std::string> keys, hashes;
  for (const auto& one : askers) {
    projects.push_back(one.project);
    environments.push_back(one.environment);
    keys.push_back(one.once->key);
    hashes.push_back(bytea_literal(one.once->body_hash));
  }
  const auto rows =
      on.run(sql::find_answers, array_literal(projects), text_array_literal(environments),
             text_array_literal(keys), text_array_literal(hashes));
  if (!rows)
    return rows.failure();
  std::vector<intake_reply> answers;
  for (const auto& row : *rows)
    answers.push_back(read_answer(row));
  return answers;
}

result<std::vector<intake_reply>> store(session& on, const call_list& calls) {
  const auto rows = on.run_with(sql::take_in, parameters_of(calls));
  if (!rows)
    return rows.failure();
  std::vector<intake_reply> replies(calls.size());
  std::vector<std::size_t> open; // whose idempotency key somebody else holds
  std::vector<asker> askers;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto row = (*rows)[static_cast<pqxx::result::size_type>(i)];
    if (row["stored"].as<bool>())
      continue;
    if (!row["live"].as<bool>()) {
      replies[i].verdict = intake_verdict::key_ended;
      continue;
    }
    open.push_back(i);
    askers.push_back({calls[i]->project, calls[i]->environment, &*calls[i]->once});
  }
  if (open.empty())
    return replies;
  auto answers = find_answers(on, askers);
  if (!answers) {
    // What was stored stays stored, and the caller must not take this for "nothing was done".
    auto failure = answers.failure();
    failure.kind = failure.is_retryable() ? error_kind::in_doubt : failure.kind;
    return failure;
  }
  for (std::size_t i = 0; i < open.size(); ++i)
    replies[open[i]] = std::move(answers->at(i));
  return replies;
}

/// Which calls an earlier try has stored: as a whole, so that its first message speaks for all.
result<std::vector<bool>> find_taken(session& on, std::span<const intake_call* const> calls) {
  std::vector<message_id> messages;
  std::vector<content_id> contents;
  for (const auto* call : calls) {
    messages.push_back(call->messages.front().id);
    contents.push_back(content_of(*call, call->messages.front()));
  }
  const auto rows = on.run(sql::find_taken, array_literal(messages), array_literal(contents));
  if (!rows)
    return rows.failure();
  std::vector<bool> taken;
  for (const auto& row : *rows)
    taken.push_back(row[0].as<bool>());
  return taken;
}

result<std::vector<intake_reply>> store_rest(session& on, std::span<const intake_call* const> calls,
                                             const std::vector<bool>& taken) {
  call_list rest;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (!taken[i])
      rest.push_back(calls[i]);
  if (rest.empty())
    return std::vector<intake_reply>(calls.size());
  auto stored = store(on, rest);
  if (!stored)
    return stored;
  std::vector<intake_reply> replies(calls.size());
  for (std::size_t i = 0, next = 0; i < calls.size(); ++i)
    if (!taken[i])
      replies[i] = std::move(stored->at(next++));
  return replies;
}

constexpr std::string_view unique_violation = "23505";

} // namespace

result<unix_us> database_time(session& on) {
  const auto rows = on.run(sql::database_time);
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<unix_us>();
}

result<std::vector<intake_reply>> take_in(session& on, std::span<const intake_call* const> calls,
                                          bool again) {
  for (const auto* call : calls)
    if (call->messages.empty())
      return error{error_kind::invalid, "messages: a call holds none"};
  if (!again)
    return store_rest(on, calls, std::vector<bool>(calls.size(), false));
  // Twice: the earlier try may still be running on the server, and then commits while we wait for
  // its ids.
  for (int tries = 0;; ++tries) {
    const auto taken = find_taken(on, calls);
    if (!taken)
      return taken.failure();
    auto replies = store_rest(on, calls, *taken);
    if (replies || tries > 0 || on.last_sqlstate() != unique_violation)
      return replies;
  }
}

result<intake_reply> answer_once(session& open_transaction, project_id project,
                                 std::string_view environment, const idempotency& once) {
  const auto noted =
      open_transaction.run(sql::note_answer, project, environment, once.key,
                           bytea_literal(once.body_hash), once.status, once.response);
  if (!noted)
    return noted.failure();
  if (!noted->empty())
    return intake_reply{};
  auto answers = find_answers(open_transaction, {{project, environment, &once}});
  if (!answers)
    return answers.failure();
  return std::move(answers->front());
}

result<std::int64_t> forget_answers(session& on, std::int32_t page) {
  const auto rows = on.run(sql::forget_answers, page);
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<std::int64_t>();
}

} // namespace paceline
