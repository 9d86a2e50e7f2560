/// What messages share: sender, subject and bodies as templates, stored once per campaign or direct
/// message.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct content {
  content_id id;
  std::string sender; ///< a mailbox: `Name <local@domain>` or `local@domain`
  std::string subject;
  std::string text_body;
  std::string html_body;      ///< empty: no HTML part
  std::string headers = "{}"; ///< JSON object of custom headers
};

/// SHA-256 over all parts with their lengths; stored at insert and checked by `load_content`.
std::array<std::uint8_t, 32> content_hash(const content&);

/// Error `data` if the stored hash does not match what is stored: somebody edited it.
result<content> load_content(session&, content_id);

/// A content with what may change after it was stored.
struct loaded_content {
  content what;
  bool sender_allowed = true; ///< the project lets the sender's domain send, at this moment
};
/// The same for several by one statement; every id gets an answer.
std::unordered_map<content_id, result<loaded_content>> load_contents(
    session&, const std::vector<content_id>&);

} // namespace paceline
