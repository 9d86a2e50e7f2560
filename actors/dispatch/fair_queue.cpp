#include "actors/dispatch/fair_queue.hpp"

#include <algorithm>
#include <cassert>

namespace paceline {
namespace {

/// One recipient at weight 1 in virtual time. Large, so that dividing by a weight loses nothing
/// that a year of sending could notice.
constexpr std::int64_t virtual_unit = 1'000'000'000'000;

} // namespace

void fair_queue::put(const stream_info& info) {
  assert(info.weight >= 1);
  entry& e = streams_[info.id];
  if (e.info.priority != info.priority)
    e.start = class_time_[info.priority]; // another class keeps another virtual time
  e.info = info;
}

void fair_queue::remove(stream_id id) {
  streams_.erase(id);
}

const stream_info* fair_queue::find(stream_id id) const {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : &found->second.info;
}

void fair_queue::set_head(stream_id id, std::int32_t cost) {
  const auto found = streams_.find(id);
  if (found == streams_.end())
    return;
  entry& e = found->second;
  if (cost > 0 && e.idle) {
    e.start = std::max(e.start, class_time_[e.info.priority]);
    e.idle = false;
  }
  e.head_cost = cost;
}

void fair_queue::set_idle(stream_id id) {
  const auto found = streams_.find(id);
  if (found == streams_.end())
    return;
  found->second.idle = true;
  found->second.head_cost = 0;
}

fair_queue::virtual_time fair_queue::finish(const entry& e) const {
  return e.start + virtual_time{virtual_unit} * std::max(1, e.head_cost) / e.info.weight;
}

/// The better one of two streams of the same priority at virtual time `now`: those not ahead of it
/// come first, by finish; those ahead by start.
const fair_queue::entry* fair_queue::better(const entry* a, const entry& b,
                                            virtual_time now) const {
  if (!a)
    return &b;
  const bool a_due = a->start <= now;
  const bool b_due = b.start <= now;
  if (a_due != b_due)
    return b_due ? &b : a;
  const virtual_time a_key = a_due ? finish(*a) : a->start;
  const virtual_time b_key = b_due ? finish(b) : b.start;
  if (a_key != b_key)
    return b_key < a_key ? &b : a;
  return b.info.id < a->info.id ? &b : a;
}

std::optional<stream_id> fair_queue::pick(database_instant at) const {
  const entry* best = nullptr;
  for (const auto& [id, e] : streams_) {
    if (e.head_cost == 0 || e.free_at > at)
      continue;
    if (best && best->info.priority != e.info.priority) {
      if (e.info.priority < best->info.priority)
        best = &e;
      continue;
    }
    const auto time = class_time_.find(e.info.priority);
    best = better(best, e, time == class_time_.end() ? 0 : time->second);
  }
  return best ? std::optional{best->info.id} : std::nullopt;
}

void fair_queue::charge(stream_id id, std::int32_t cost, database_instant at,
                        nanoseconds slot_period) {
  const auto found = streams_.find(id);
  if (found == streams_.end())
    return;
  entry& e = found->second;
  virtual_time weights = 0;
  virtual_time least = -1;
  for (const auto& [other_id, other] : streams_) {
    if (other.info.priority != e.info.priority || other.head_cost == 0)
      continue;
    weights += other.info.weight;
    const virtual_time start =
        other_id == id ? e.start + virtual_time{virtual_unit} * cost / e.info.weight : other.start;
    least = least < 0 ? start : std::min(least, start);
  }
  e.start += virtual_time{virtual_unit} * cost / e.info.weight;
  virtual_time& now = class_time_[e.info.priority];
  if (weights > 0)
    now += virtual_time{virtual_unit} * cost / weights;
  now = std::max(now, least);
  if (!e.info.cap.is_zero()) {
    const std::int64_t spacing = 1'000'000'000'000 / e.info.cap.millihertz() * shard_count_;
    const database_instant from =
        e.free_at == database_instant::min() ? at : std::max(e.free_at, at - slot_period);
    e.free_at = from + nanoseconds{spacing * cost};
  }
}

std::optional<database_instant> fair_queue::earliest_free() const {
  std::optional<database_instant> first;
  for (const auto& [id, e] : streams_)
    if (e.head_cost > 0 && (!first || e.free_at < *first))
      first = e.free_at;
  return first;
}

bool fair_queue::is_mixed() const {
  return std::ranges::any_of(streams_, [first = streams_.begin()](const auto& other) {
    return other.second.info.priority != first->second.info.priority;
  });
}

std::vector<stream_id> fair_queue::order() const {
  std::vector<const entry*> sorted;
  sorted.reserve(streams_.size());
  for (const auto& [id, e] : streams_)
    sorted.push_back(&e);
  std::ranges::sort(sorted, [](const entry* a, const entry* b) {
    if (a->info.priority != b->info.priority)
      return a->info.priority < b->info.priority;
    return a->start != b->start ? a->start < b->start : a->info.id < b->info.id;
  });
  std::vector<stream_id> ids;
  ids.reserve(sorted.size());
  for (const entry* e : sorted)
    ids.push_back(e->info.id);
  return ids;
}

} // namespace paceline
