/// Turns due rows into messages ready to be handed over: looks up the compiled content and composes
/// the row's mail from it. Whether the content's project may send from its sender's domain is
/// judged here, too, from what the database said at most 10 s ago: an operator who takes a domain
/// away is obeyed within that time.
///
/// Pure apart from its cache of compiled contents (bounded in number and octets; the least recently
/// used one goes), with the time as an argument. Owned by a shard's actor.
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
#include "storage/model/instants.hpp"
#include "transport/mail/composer.hpp"
#include "transport/providers/provider.hpp"

namespace paceline {

/// What all messages of a route have in common.
struct prepare_options {
  mail_form form = mail_form::parts; ///< as the route's provider wants it
  std::string environment;           ///< of the route, for the links
  /// Links for campaign mail; none where they are not configured. Outlives the preparer.
  const unsubscribe_links* links = nullptr;
};

class preparer {
public:
  static constexpr std::size_t max_contents = 64;
  /// Of all contents together; the one used last stays whatever its size.
  static constexpr std::size_t max_octets = std::size_t{64} << 20;

  static constexpr nanoseconds freshness = std::chrono::seconds{10};

  explicit preparer(prepare_options options = {}) : options_(std::move(options)) {}

  bool knows(content_id id) const { return entries_.contains(id); }
  /// Those that need not be loaded now: loaded less than `freshness` ago.
  std::vector<content_id> fresh(boot_instant now) const;
  /// Takes a content that was loaded; one that doesn't compile makes all its messages fail for
  /// good.
  void learn(const loaded_content& loaded, boot_instant now);
  /// A content that can't be used at all (edited, gone): its messages fail for good with `why`.
  void learn_unusable(content_id id, std::string why, boot_instant now);

  using prepared = std::variant<std::shared_ptr<const outgoing_message>, preflight_failure>;
  /// `knows(row.content)` must be true. `now` is the date of the mail; a campaign's mail carries
  /// links.
  prepared prepare(const due_message& row, bool is_campaign, database_instant now);

private:
  struct entry {
    std::unique_ptr<mail_composer> compiled; ///< none: unusable
    std::string sender, why;
    bool sender_allowed = true;
    boot_instant loaded_at{};
    std::size_t octets = 0;
    std::list<content_id>::iterator age;
  };
  void keep(content_id id, entry made, boot_instant now);
  void forget(content_id id);

  prepare_options options_;
  std::unordered_map<content_id, entry> entries_;
  std::list<content_id> by_age_; ///< most recently used first
  std::size_t octets_ = 0;
};

} // namespace paceline
