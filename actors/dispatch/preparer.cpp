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
  auto compiled = mail_template::compile(loaded.what);
  entry made;
  made.sender = loaded.what.sender;
  made.sender_allowed = loaded.sender_allowed;
  if (compiled)
    made.compiled = std::make_unique<mail_template>(std::move(*compiled));
  else
    made.why = compiled.failure().text;
  keep(loaded.what.id, std::move(made), now);
}

void preparer::learn_unusable(content_id id, std::string why, boot_instant now) {
  entry made;
  made.why = std::move(why);
  keep(id, std::move(made), now);
}

void preparer::keep(content_id id, entry made, boot_instant now) {
  made.loaded_at = now;
  if (auto old = entries_.find(id); old != entries_.end()) {
    by_age_.erase(old->second.age);
    entries_.erase(old);
  }
  if (entries_.size() >= max_contents) {
    entries_.erase(by_age_.back());
    by_age_.pop_back();
  }
  by_age_.push_front(id);
  made.age = by_age_.begin();
  entries_.emplace(id, std::move(made));
}

preparer::prepared preparer::prepare(const due_message& row) {
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
  auto rendered = known.compiled->render(row.fields);
  if (!rendered)
    return fail(rendered.failure().text);
  auto message = std::make_shared<outgoing_message>();
  message->of = row.of;
  message->sender = known.sender;
  message->recipients = row.recipients;
  message->subject = std::move(rendered->subject);
  message->text_body = std::move(rendered->text_body);
  message->html_body = std::move(rendered->html_body);
  return std::shared_ptr<const outgoing_message>{std::move(message)};
}

} // namespace paceline
