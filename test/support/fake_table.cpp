#include "test/support/fake_table.hpp"

#include <algorithm>

namespace paceline::test {

void fake_table::add_stream(stream_id stream, std::int16_t priority) {
  due_stream info;
  info.route = route.route;
  info.stream = stream;
  info.project = project_id{1};
  info.priority = priority;
  streams[stream] = info;
}

std::vector<message_id> fake_table::add(stream_id stream, int count, database_instant due,
                                        const std::string& fields) {
  std::vector<message_id> ids;
  if (contents.empty())
    contents[content_id{1}] = {{content_id{1}, "news@example.org", "Hello", "Hello", "", "{}"}};
  for (int i = 0; i < count; ++i) {
    message_id id{++last_id_};
    auto& made = messages[id];
    made.row.of = {id, 0};
    made.row.due_at = due;
    made.row.stream = stream;
    made.row.project = project_id{1};
    made.row.content = contents.rbegin()->first;
    made.row.recipients = {std::to_string(last_id_).append("@example.org")};
    made.row.fields = fields;
    queue_[stream].emplace(due, id);
    ids.push_back(id);
  }
  return ids;
}

std::vector<due_stream> fake_table::due(database_instant now) const {
  std::vector<due_stream> found;
  for (const auto& [id, info] : streams) {
    auto rows = queue_.find(id);
    if (stopped.contains(id) || rows == queue_.end() || rows->second.empty())
      continue;
    auto first = rows->second.begin()->first;
    if (first > now + std::chrono::minutes{1})
      continue;
    found.push_back(info);
    found.back().due_in = std::max(first - now, nanoseconds{0});
  }
  return found;
}

std::vector<reserve_page> fake_table::reserve(const reserve_request& request,
                                              database_instant now) const {
  std::vector<reserve_page> pages;
  for (const auto& source : request.sources) {
    reserve_page page{source.stream, source.part, {}, false};
    auto rows = queue_.find(source.stream);
    auto wanted = static_cast<std::size_t>(source.limit);
    if (rows != queue_.end() && !stopped.contains(source.stream)) {
      auto next = rows->second.upper_bound({source.after.due, source.after.id});
      for (; next != rows->second.end() && next->first <= now && page.rows.size() < wanted;
           ++next) {
        auto part = next->second.value() % request.count;
        if (part == (source.part == reserve_part::own ? request.index : request.other))
          page.rows.push_back(messages.at(next->second).row);
      }
    }
    page.exhausted = page.rows.size() < wanted;
    pages.push_back(std::move(page));
  }
  return pages;
}

claim_reply fake_table::claim(const claim_request& request, database_instant now) {
  claim_reply reply;
  reply.route = route;
  reply.route.read_at = now;
  reply.route.brake_left = std::max(route.brake_left - (now - route.read_at), nanoseconds{0});
  auto shard = shards.find(request.shard);
  if (shard == shards.end() || shard->second.epoch != request.epoch
      || shard->second.group_no > request.group_no)
    return reply;
  shard->second.group_no = request.group_no;
  shard->second.gate = std::max(shard->second.gate, request.gate);
  reply.still_owner = true;
  for (const auto& row : request.rows) {
    auto found = messages.find(row.of.message);
    if (found != messages.end() && found->second.row.of == row.of)
      take(found->second, request, reply);
  }
  return reply;
}

void fake_table::take(fake_message& message, const claim_request& request, claim_reply& reply) {
  const bool running = !stopped.contains(message.row.stream) && !revoked.contains(message.row.key);
  claimed_row row{message.row.of, running, {}};
  for (const auto& address : message.row.recipients)
    if (suppressed.contains(address))
      row.suppressed.push_back(address);
  const bool again = message.status == message_status::attempting && message.epoch == request.epoch
                     && message.group_no == request.group_no;
  if (message.status == message_status::queued) {
    if (!running || row.suppressed.size() == message.row.recipients.size())
      return;
  } else if (!again) {
    return;
  }
  move(message, message_status::attempting);
  message.epoch = request.epoch;
  message.group_no = request.group_no;
  reply.rows.push_back(std::move(row));
}

void fake_table::move(fake_message& message, message_status status) {
  auto& rows = queue_[message.row.stream];
  rows.erase({message.row.due_at, message.row.of.message});
  message.status = status;
  if (status == message_status::queued)
    rows.emplace(message.row.due_at, message.row.of.message);
}

fake_message* fake_table::queued(const attempt& of) {
  auto found = messages.find(of.message);
  if (found == messages.end() || found->second.row.of != of
      || found->second.status != message_status::queued)
    return nullptr;
  return &found->second;
}

void fake_table::settle(const std::vector<attempt>& rows) {
  for (const auto& of : rows) {
    auto* message = queued(of);
    if (!message)
      continue;
    if (revoked.contains(message->row.key)) {
      message->reason = reason_code::key_revoked;
      move(*message, message_status::canceled);
    } else if (std::ranges::all_of(message->row.recipients, [this](const auto& address) {
                 return suppressed.contains(address);
               })) {
      move(*message, message_status::suppressed);
    }
  }
}

void fake_table::reject(const std::vector<preflight_failure>& failures) {
  for (const auto& failure : failures)
    if (auto* message = queued(failure.of)) {
      message->reason = failure.reason;
      move(*message, failure.status);
    }
}

void fake_table::postpone(const std::vector<attempt>& rows, database_instant until) {
  for (const auto& of : rows)
    if (auto* message = queued(of)) {
      move(*message, message_status::attempting);
      message->row.due_at = until;
      move(*message, message_status::queued);
    }
}

std::int64_t fake_table::draw_grant(std::int64_t wanted) {
  if (!daily_left)
    return wanted;
  auto granted = std::min(*daily_left, wanted);
  *daily_left -= granted;
  if (granted == 0)
    route.state = route_state::waiting;
  return granted;
}

record_reply fake_table::record(const std::vector<outcome>& outcomes, database_instant now) {
  record_reply reply;
  for (const auto& what : outcomes) {
    if (!apply(what, now))
      continue;
    ++reply.changed;
    auto stream = messages.at(what.of.message).row.stream;
    auto known = std::ranges::find(reply.streams, stream, &touched_stream::stream);
    if (known == reply.streams.end())
      reply.streams.push_back({stream, 1, 0});
    else
      ++known->changed;
  }
  return reply;
}

bool fake_table::apply(const outcome& what, database_instant now) {
  auto found = messages.find(what.of.message);
  if (found == messages.end() || found->second.row.of != what.of)
    return false;
  auto& message = found->second;
  const bool attempting = message.status == message_status::attempting;
  if (!attempting && message.status != message_status::acceptance_unknown)
    return false;
  message.reason = what.reason;
  switch (what.kind) {
  case outcome_kind::accepted:
    move(message, message_status::accepted);
    return true;
  case outcome_kind::rejected:
    move(message, message_status::rejected);
    return true;
  case outcome_kind::unknown:
    if (attempting)
      move(message, message_status::acceptance_unknown);
    return attempting;
  case outcome_kind::throttled:
  case outcome_kind::not_started:
    ++message.row.of.version;
    message.row.due_at = what.kind == outcome_kind::throttled ? now + std::chrono::seconds{2} : now;
    move(message, message_status::queued);
    return true;
  }
  return false;
}

std::int64_t fake_table::count(message_status status) const {
  return std::ranges::count_if(
      messages, [status](const auto& entry) { return entry.second.status == status; });
}

} // namespace paceline::test
