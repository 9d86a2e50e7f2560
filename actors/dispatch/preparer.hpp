/// Turns due rows into messages ready to be handed over: looks up the compiled template of their
/// content and renders the row's fields into it.
///
/// Pure apart from its cache of compiled contents (bounded; the least recently used one goes).
/// Owned by a shard's actor.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "storage/claims.hpp"
#include "storage/contents.hpp"
#include "transport/mail/template.hpp"
#include "transport/providers/provider.hpp"

namespace paceline {

class preparer {
public:
  static constexpr std::size_t max_contents = 64;

  bool knows(content_id id) const { return entries_.contains(id); }
  std::vector<content_id> known() const { return {by_age_.begin(), by_age_.end()}; }
  /// Takes a content that was loaded; one that doesn't compile makes all its messages fail for
  /// good.
  void learn(const content& loaded);
  /// A content that can't be used at all (edited, gone): its messages fail for good with `why`.
  void learn_unusable(content_id id, std::string why);

  using prepared = std::variant<std::shared_ptr<const outgoing_message>, preflight_failure>;
  /// `knows(row.content)` must be true.
  prepared prepare(const due_message& row);

private:
  struct entry {
    std::unique_ptr<mail_template> compiled; ///< none: unusable
    std::string sender, why;
    std::list<content_id>::iterator age;
  };
  void keep(content_id id, entry made);

  std::unordered_map<content_id, entry> entries_;
  std::list<content_id> by_age_; ///< most recently used first
};

} // namespace paceline
