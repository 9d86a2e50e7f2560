#include "actors/dispatch/preparer.hpp"

#include <utility>

namespace paceline {

std::vector<content_id> preparer::fresh(boot_instant now) const {
  std::vector<content_id> ids;
  for (const auto& [id, known] : entries_)
    if (now - known.loaded_at < freshness)
      ids.push_back(id);
  return ids;
}

void preparer::learn(const loaded_content& loaded, boot_instant now) {
  auto compiled = mail_composer::compile(loaded.what, {options_.form});
  entry made;
  made.sender = loaded.what.sender;
  made.sender_allowed = loaded.sender_allowed;
  if (compiled) {
    made.octets = compiled->memory();
    made.compiled = std::make_unique<mail_composer>(std::move(*compiled));
  } else {
    made.why = compiled.failure().text;
  }
  keep(loaded.what.id, std::move(made), now);
}

void preparer::learn_unusable(content_id id, std::string why, boot_instant now) {
  entry made;
  made.why = std::move(why);
  keep(id, std::move(made), now);
}

void preparer::keep(content_id id, entry made, boot_instant now) {
  made.loaded_at = now;
  if (entries_.contains(id))
    forget(id);
  octets_ += made.octets;
  while (!by_age_.empty() && (entries_.size() >= max_contents || octets_ > max_octets))
    forget(by_age_.back());
  by_age_.push_front(id);
  made.age = by_age_.begin();
  entries_.emplace(id, std::move(made));
}

void preparer::forget(content_id id) {
  const auto old = entries_.find(id);
  octets_ -= old->second.octets;
  by_age_.erase(old->second.age);
  entries_.erase(old);
}

preparer::prepared preparer::prepare(const due_message& row, bool is_campaign,
                                     database_instant now) {
  auto& known = entries_.at(row.content);
  by_age_.splice(by_age_.begin(), by_age_, known.age);
  auto fail = [&row](std::string why) {
    return preflight_failure{row.of, message_status::rendering_failed, reason_code::rendering_error,
                             std::move(why)};
  };
  if (!known.sender_allowed)
    return preflight_failure{row.of, message_status::rejected, reason_code::sender_not_allowed,
                             "the project may not send from the domain of " + known.sender};
  if (!known.compiled)
    return fail(known.why);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch());
  composed_for what{row, seconds.count(), is_campaign ? options_.links : nullptr,
                    options_.environment};
  auto composed = known.compiled->compose(what);
  if (!composed)
    return fail(composed.failure().text);
  composed->is_campaign = is_campaign;
  return std::make_shared<const outgoing_message>(std::move(*composed));
}

} // namespace paceline
