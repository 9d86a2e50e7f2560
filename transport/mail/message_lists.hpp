/// What a row holds as JSON beside its fields: who is named in the head, and the sender's tags.
/// Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/result.hpp"
#include "transport/mail/address.hpp"

namespace paceline {

/// The recipients that readers see. Blind copies are not among them.
struct visible_mailboxes {
  std::vector<mail_address> to, cc;
};

/// From `due_message::addresses`. Error `invalid` names `to` or `cc` and the problem.
result<visible_mailboxes> read_visible_mailboxes(std::string_view addresses);

/// From `due_message::tags`: an object of texts. Error `invalid`.
result<std::vector<std::pair<std::string, std::string>>> read_tags(std::string_view tags);

} // namespace paceline
