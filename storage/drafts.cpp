#include "storage/drafts.hpp"

#include "storage/audit.hpp"
#include "storage/content_row.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"
#include "storage/wall_clock.hpp"

namespace paceline {
namespace {

constexpr std::size_t largest_page = 5'000;

/// Whether a call of this key may store anything.
result<bool> holds_live_key(session& open, key_id key) {
  if (key == key_id{})
    return true;
  const auto held = open.run(sql::hold_live_key, key);
  if (!held)
    return held.failure();
  return !held->empty();
}

result<done> insert_rows(session& open, id_source& ids, const new_draft& draft,
                         std::string_view actor) {
  content what = draft.what;
  what.id = content_id{ids.next(wall_clock_ms())};
  if (auto stored = insert_content(open, draft.project, what); !stored)
    return stored.failure();
  std::optional<std::int64_t> cap;
  if (draft.rate_cap)
    cap = draft.rate_cap->millihertz();
  const auto stream = open.run(sql::insert_draft_stream, draft.id, draft.project, draft.route,
                               draft.priority, draft.weight, cap);
  if (!stream)
    return stream.failure();
  const auto campaign = open.run(sql::insert_draft, draft.id, what.id, draft.key, draft.name);
  if (!campaign)
    return campaign.failure();
  return write_audit(open, actor, "campaign.create", std::to_string(draft.id.value()));
}

result<draft_reply> create_in(session& open, id_source& ids, const new_draft& draft,
                              std::string_view environment, const std::optional<idempotency>& once,
                              std::string_view actor) {
  const auto there = open.run(sql::find_draft, draft.id);
  if (!there)
    return there.failure();
  if (!there->empty())
    return draft_reply{draft.id, {}};
  const auto live = holds_live_key(open, draft.key);
  if (!live)
    return live.failure();
  if (!*live)
    return draft_reply{{}, {intake_verdict::key_ended, 0, {}}};
  if (once) {
    auto answered = answer_once(open, draft.project, environment, *once);
    if (!answered)
      return answered.failure();
    if (answered->verdict != intake_verdict::stored)
      return draft_reply{{}, std::move(*answered)};
  }
  if (auto inserted = insert_rows(open, ids, draft, actor); !inserted)
    return inserted.failure();
  return draft_reply{draft.id, {}};
}

/// The state of the campaign, which nobody changes before the end of the transaction.
result<std::string> lock_state(session& open, stream_id campaign) {
  const auto locked = open.run(sql::lock_campaign, campaign);
  if (!locked)
    return locked.failure();
  if (locked->empty())
    return error{error_kind::not_found, "there is no campaign " + std::to_string(campaign.value())};
  return std::string{(*locked)[0][0].c_str()};
}

error no_draft(stream_id campaign, const std::string& state) {
  return {error_kind::refused,
          "campaign " + std::to_string(campaign.value()) + " is " + state + ", no draft any more"};
}

result<append_reply> append_in(session& open, id_source& ids, stream_id campaign,
                               const std::vector<audience_member>& members) {
  const auto state = lock_state(open, campaign);
  if (!state)
    return state.failure();
  if (*state != "draft")
    return no_draft(campaign, *state);
  std::vector<message_id> messages;
  std::vector<std::string_view> addresses, fields;
  for (const auto& member : members) {
    messages.emplace_back(ids.next(wall_clock_ms()));
    addresses.push_back(member.recipient);
    fields.push_back(member.fields);
  }
  const auto rows = open.run(sql::append_recipients, campaign, array_literal(messages),
                             text_array_literal(addresses), text_array_literal(fields));
  if (!rows)
    return rows.failure();
  append_reply reply;
  reply.added = (*rows)[0]["added"].as<std::int64_t>();
  reply.duplicates = static_cast<std::int64_t>(members.size()) - reply.added;
  reply.audience = (*rows)[0]["audience"].as<std::int64_t>();
  return reply;
}

} // namespace

result<draft_reply> create_draft(session& on, id_source& ids, const new_draft& draft,
                                 std::string_view environment,
                                 const std::optional<idempotency>& once, std::string_view actor) {
  return on.in_transaction(
      [&](session& open) { return create_in(open, ids, draft, environment, once, actor); });
}

result<append_reply> append_recipients(session& on, id_source& ids, stream_id campaign,
                                       const std::vector<audience_member>& members) {
  if (members.empty() || members.size() > largest_page)
    return error{error_kind::invalid, "recipients: 1 to 5000 are allowed at once"};
  return on.in_transaction([&](session& open) { return append_in(open, ids, campaign, members); });
}

result<done> send_draft(session& on, stream_id campaign, std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<done> {
    const auto state = lock_state(open, campaign);
    if (!state)
      return state.failure();
    if (*state == "sending")
      return done{};
    if (*state != "draft")
      return no_draft(campaign, *state);
    const auto sent = open.run(sql::send_draft, campaign);
    if (!sent)
      return sent.failure();
    if (sent->empty())
      return error{error_kind::refused, "campaign " + std::to_string(campaign.value())
                                            + " has no recipient yet: append some first"};
    return write_audit(open, actor, "campaign.send", std::to_string(campaign.value()));
  });
}

result<std::int64_t> forget_recipients(session& on, std::int32_t page) {
  const auto rows = on.run(sql::forget_recipients, page);
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<std::int64_t>();
}

} // namespace paceline
