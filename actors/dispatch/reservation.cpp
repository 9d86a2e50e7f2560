#include "actors/dispatch/reservation.hpp"

#include <algorithm>
#include <cassert>

namespace paceline {
namespace {

/// Smaller pages cost more statements than they save memory.
constexpr std::int32_t smallest_page = 24;
/// Streams read in one go.
constexpr std::size_t most_plans = 16;

read_cursor key_of(const reserved_row& row) {
  return {row.due_at, row.of.message};
}

} // namespace

void reservation::add_stream(stream_id id) {
  streams_.try_emplace(id);
}

std::vector<attempt> reservation::remove_stream(stream_id id) {
  std::vector<attempt> dropped;
  const auto found = streams_.find(id);
  if (found == streams_.end())
    return dropped;
  for (const held_row& held : found->second.rows) {
    known_.erase(held.row.of.message);
    dropped.push_back(held.row.of);
  }
  size_ -= found->second.rows.size();
  streams_.erase(found);
  return dropped;
}

void reservation::wake(stream_id id, database_instant at, database_instant now) {
  const auto found = streams_.find(id);
  if (found == streams_.end())
    return;
  stream_rows& stream = found->second;
  if (at > now) {
    stream.wake_at = stream.wake_at ? std::min(*stream.wake_at, at) : at;
    return;
  }
  stream.dry = false;
  stream.fed = false;
  stream.part = bucket_part::own;
  stream.woken_while_reading = stream.reading;
}

std::optional<database_instant> reservation::next_wake() const {
  std::optional<database_instant> first;
  for (const auto& [id, stream] : streams_)
    if (stream.wake_at && (!first || *stream.wake_at < *first))
      first = stream.wake_at;
  return first;
}

void reservation::look_at_wakes(database_instant now) {
  for (auto& [id, stream] : streams_) {
    if (!stream.wake_at || *stream.wake_at > now)
      continue;
    stream.wake_at.reset();
    wake(id, now, now);
  }
}

std::vector<stream_id> reservation::wanting(const fair_queue& queue) const {
  std::vector<stream_id> found;
  for (const stream_id id : queue.order()) {
    const auto stream = streams_.find(id);
    if (stream != streams_.end() && !stream->second.dry)
      found.push_back(id);
  }
  return found;
}

std::int64_t reservation::held_up_to(std::int32_t priority, const fair_queue& queue) const {
  std::int64_t held = 0;
  for (const auto& [id, stream] : streams_) {
    const stream_info* info = queue.find(id);
    if (info && info->priority <= priority)
      held += static_cast<std::int64_t>(stream.rows.size());
  }
  return held;
}

/// Read when half of what may be held is used up; what is less urgent than the first to be read
/// does not count, since it would have to wait for it anyway.
bool reservation::is_time(std::int32_t limit, const fair_queue& queue, stream_id first) const {
  return held_up_to(queue.find(first)->priority, queue) * 2 <= limit;
}

std::vector<reserve_plan> reservation::plan(database_instant now, std::int32_t limit,
                                            const fair_queue& queue) {
  std::vector<reserve_plan> plans;
  if (outstanding_ > 0)
    return plans;
  look_at_wakes(now);
  const std::vector<stream_id> ids = wanting(queue);
  if (ids.empty() || !is_time(limit, queue, ids.front()))
    return plans;
  std::int64_t planned = 0;
  for (std::size_t begin = 0; begin < ids.size();) {
    const std::int32_t priority = queue.find(ids[begin])->priority;
    std::size_t end = begin;
    std::int64_t weights = 0;
    for (; end < ids.size() && queue.find(ids[end])->priority == priority; ++end)
      weights += queue.find(ids[end])->weight;
    const std::int64_t class_room = limit - held_up_to(priority, queue) - planned;
    std::int64_t room = class_room;
    for (; begin < end && room > 0 && plans.size() < most_plans; ++begin) {
      stream_rows& stream = streams_.at(ids[begin]);
      const std::int64_t fair = class_room * queue.find(ids[begin])->weight / weights;
      const std::int64_t page = std::min(room, std::max<std::int64_t>(smallest_page, fair));
      plans.push_back({ids[begin], stream.part, stream.cursor[static_cast<int>(stream.part)],
                       static_cast<std::int32_t>(page)});
      stream.reading = true;
      stream.woken_while_reading = false;
      stream.trimmed_while_reading = false;
      room -= page;
      planned += page;
    }
    begin = end;
  }
  outstanding_ = static_cast<std::int32_t>(plans.size());
  return plans;
}

void reservation::end_of_part(stream_rows& stream, bucket_part part) {
  stream.cursor[static_cast<int>(part)] = {};
  if (part == bucket_part::own && has_others_ && !stream.fed) {
    stream.part = bucket_part::other;
    return;
  }
  stream.part = bucket_part::own;
  stream.dry = true;
}

void reservation::on_rows(const reserve_plan& asked, const std::vector<reserved_row>& rows) {
  outstanding_ = std::max(0, outstanding_ - 1);
  const auto found = streams_.find(asked.stream);
  if (found == streams_.end())
    return;
  stream_rows& stream = found->second;
  stream.reading = false;
  for (const reserved_row& row : rows) {
    if (!known_.try_emplace(row.of.message, asked.stream).second)
      continue;
    stream.rows.push_back({row, asked.part});
    stream.fed = stream.fed || asked.part == bucket_part::own;
    ++size_;
  }
  if (stream.trimmed_while_reading)
    return; // the cursor was set back to read again what was dropped
  if (static_cast<std::int64_t>(rows.size()) >= asked.limit)
    stream.cursor[static_cast<int>(asked.part)] = key_of(rows.back());
  else
    end_of_part(stream, asked.part);
  if (stream.woken_while_reading) {
    stream.dry = false;
    stream.part = bucket_part::own;
  }
}

void reservation::on_failed() {
  outstanding_ = 0;
  for (auto& [id, stream] : streams_)
    stream.reading = false;
}

void reservation::drop_last(stream_rows& stream) {
  const held_row last = stream.rows.back();
  stream.rows.pop_back();
  --size_;
  known_.erase(last.row.of.message);
  read_cursor back;
  for (auto held = stream.rows.rbegin(); held != stream.rows.rend(); ++held) {
    if (held->part == last.part) {
      back = key_of(held->row);
      break;
    }
  }
  stream.cursor[static_cast<int>(last.part)] = back;
  if (last.part == bucket_part::own || stream.dry)
    stream.part = last.part;
  stream.dry = false;
  stream.trimmed_while_reading = stream.reading;
}

std::vector<attempt> reservation::trim(std::int32_t limit, const fair_queue& queue) {
  std::vector<attempt> dropped;
  if (static_cast<std::int64_t>(size_) <= limit)
    return dropped;
  const std::vector<stream_id> ids = queue.order();
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    const auto found = streams_.find(*id);
    if (found == streams_.end())
      continue;
    while (static_cast<std::int64_t>(size_) > limit && !found->second.rows.empty()) {
      dropped.push_back(found->second.rows.back().row.of);
      drop_last(found->second);
    }
  }
  return dropped;
}

const reserved_row* reservation::front(stream_id id) const {
  const auto found = streams_.find(id);
  if (found == streams_.end() || found->second.rows.empty())
    return nullptr;
  return &found->second.rows.front().row;
}

reserved_row reservation::pop(stream_id id) {
  stream_rows& stream = streams_.at(id);
  assert(!stream.rows.empty());
  reserved_row row = stream.rows.front().row;
  stream.rows.pop_front();
  --size_;
  known_[row.of.message] = stream_id{};
  return row;
}

std::optional<stream_id> reservation::forget(message_id id) {
  const auto known = known_.find(id);
  if (known == known_.end())
    return std::nullopt;
  const stream_id stream = known->second;
  known_.erase(known);
  const auto found = streams_.find(stream);
  if (found == streams_.end())
    return std::nullopt;
  size_ -= std::erase_if(found->second.rows,
                         [id](const held_row& held) { return held.row.of.message == id; });
  return stream;
}

bool reservation::is_dry(stream_id id) const {
  const auto found = streams_.find(id);
  return found == streams_.end() || found->second.dry;
}

std::int32_t reserve_limit(rate share, std::int32_t max_group, std::int32_t cap) {
  const std::int64_t second = (share.millihertz() + 999) / 1000;
  const std::int64_t least = std::max(smallest_page, max_group);
  return static_cast<std::int32_t>(std::min<std::int64_t>(std::max(second, least), cap));
}

} // namespace paceline
