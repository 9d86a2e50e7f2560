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

/// What comes with each message of a content. Inline ones belong to the HTML part, which names them
/// `cid:CONTENT_ID`.
struct attachment {
  std::string name; ///< file name, UTF-8, 1 to 255 octets, without path and control characters
  std::string media_type; ///< `type/subtype`, lower case
  std::string content_id; ///< without angle brackets; not empty: inline
  std::string data;       ///< the octets themselves
};

/// What becomes of a template's field that a message does not have.
enum class missing_field : std::int16_t {
  empty = 0,    ///< nothing in its place
  fallback = 1, ///< the content's default; without one, the message is rejected
  reject = 2,   ///< the message is rejected
};

struct content {
  content_id id;
  std::string sender; ///< a mailbox: `Name <local@domain>` or `local@domain`
  std::string subject;
  std::string text_body;
  std::string html_body;      ///< empty: no HTML part
  std::string headers = "{}"; ///< JSON object of custom headers; their values are templates
  missing_field missing = missing_field::empty;
  std::string defaults = "{}"; ///< JSON object: values for fields that a message does not have
  std::vector<attachment> attachments = {}; ///< at most 50, at most 40 MiB together
};

/// SHA-256 over all parts with their lengths; stored at insert and checked by `load_content`.
/// Members that have their defaults take no part, so that old hashes stay good.
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
