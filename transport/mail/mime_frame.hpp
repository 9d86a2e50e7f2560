/// What stands around the bodies of a content's messages: media types, boundaries, attachments
/// (RFC 2045, 2046, 2183, 2231, 2387, 2392). Made once per content.
///
/// mixed( alternative( text, related( html, inline... ) ), attachments... ), without the levels
/// that would hold one part only. All that comes after the bodies is the same for all messages.
#pragma once

#include <memory>
#include <string>

#include "storage/contents.hpp"
#include "storage/result.hpp"

namespace paceline {

/// A message is its head, `before_text`, the text, `before_html`, the HTML, and `after` or `tail`.
/// Bodies are quoted-printable in UTF-8. `before_text` begins with the last fields of the head,
/// from MIME-Version on.
struct mime_frame {
  bool has_text = false, has_html = false; ///< one of them at least
  std::string before_text, before_html;    ///< of a single part, only one of them is not empty
  std::string after;                       ///< without attachments; empty for a single part
  std::shared_ptr<const std::string> tail; ///< with attachments; otherwise null
};

/// A content without bodies has an empty text. Inline attachments without an HTML part, which alone
/// could show them, become plain ones. Error `invalid` names `attachments[N].name`, `.media_type`
/// or `.content_id` and the problem.
result<mime_frame> make_mime_frame(const content& what);

} // namespace paceline
