#include "transport/api/id_desk.hpp"

#include "storage/wall_clock.hpp"

namespace paceline {

std::int64_t id_desk::next() {
  const std::lock_guard lock{mutex_};
  return source_.next(wall_clock_ms());
}

void id_desk::give_ids(intake_call& call) {
  const auto now = wall_clock_ms();
  const std::lock_guard lock{mutex_};
  for (auto& content : call.contents)
    content.id = content_id{source_.next(now)};
  for (auto& message : call.messages)
    message.id = message_id{source_.next(now)};
}

std::optional<id_source> lent_ids::borrow() {
  const std::lock_guard lock{mutex_};
  if (idle_.empty())
    return std::nullopt;
  const auto source = idle_.back();
  idle_.pop_back();
  return source;
}

void lent_ids::give_back(const id_source& source) {
  const std::lock_guard lock{mutex_};
  idle_.push_back(source);
}

} // namespace paceline
