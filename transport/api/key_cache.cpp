#include "transport/api/key_cache.hpp"

#include <algorithm>

namespace paceline {

result<std::shared_ptr<const api_key>> key_cache::authenticate(const parsed_token& token,
                                                               boot_instant now) {
  std::shared_ptr<const api_key> key;
  if (auto known = remembered(token.key, now)) {
    key = std::move(*known);
  } else {
    auto found = find_(token.key);
    if (found)
      key = std::make_shared<const api_key>(std::move(*found));
    else if (found.failure().kind != error_kind::not_found)
      return found.failure();
    remember(token.key, key, now);
  }
  if (!key || !key->is_valid || !is_same_hash(key->secret_hash, token.hash))
    return std::shared_ptr<const api_key>{};
  note_use(token.key, now);
  return key;
}

std::optional<std::shared_ptr<const api_key>> key_cache::remembered(key_id id, boot_instant now) {
  const std::lock_guard lock{mutex_};
  if (const auto found = entries_.find(id);
      found != entries_.end() && found->second.good_until > now)
    return found->second.key;
  if (const auto found = unknown_.find(id); found != unknown_.end() && found->second > now)
    return std::shared_ptr<const api_key>{};
  return std::nullopt;
}

void key_cache::remember(key_id id, std::shared_ptr<const api_key> key, boot_instant now) {
  auto good_until = now + good_for;
  // An expiry that comes sooner counts from then on.
  if (key && key->is_valid && key->expires_in)
    good_until = std::min(good_until, now + *key->expires_in);
  const std::lock_guard lock{mutex_};
  if (!key) {
    entries_.erase(id);
    if (unknown_.size() >= most_unknown)
      unknown_.clear(); // each is only asked for again
    unknown_[id] = good_until;
    return;
  }
  unknown_.erase(id);
  if (entries_.size() >= most)
    std::erase_if(entries_, [now](const auto& each) { return each.second.good_until <= now; });
  if (entries_.size() >= most)
    entries_.erase(entries_.begin()); // any: it is only asked for again
  auto& entry = entries_[id];
  entry.key = std::move(key);
  entry.good_until = good_until;
}

void key_cache::note_use(key_id id, boot_instant now) {
  {
    const std::lock_guard lock{mutex_};
    const auto found = entries_.find(id);
    if (found == entries_.end())
      return;
    auto& noted_at = found->second.noted_at;
    if (noted_at != boot_instant{} && now - noted_at < noted_every)
      return;
    noted_at = now;
  }
  note_({id});
}

void key_cache::look_again(key_id key) {
  const std::lock_guard lock{mutex_};
  if (const auto found = entries_.find(key); found != entries_.end())
    found->second.good_until = {};
}

void key_cache::forget(key_id key) {
  const std::lock_guard lock{mutex_};
  entries_.erase(key);
}

} // namespace paceline
