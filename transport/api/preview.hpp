/// What a message would look like, without storing or sending anything: for the API and the command
/// line alike. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/contents.hpp"
#include "storage/result.hpp"
#include "transport/api/template_fields.hpp"

namespace paceline {

/// The message that a content is looked at with.
struct preview_message {
  std::vector<std::string> recipients{"recipient@example.com"}; ///< normalised, 1 to 50
  std::optional<std::string> addresses; ///< to, cc, bcc as given, as `intake_message` has it
  std::string fields = "{}";
  std::int64_t unix_seconds = 0; ///< of its date
};

struct mail_preview {
  std::string subject, text_body, html_body;
  std::vector<std::pair<std::string, std::string>> headers; ///< the sender's own, filled in
  std::string raw; ///< the whole message as it would go out, but for links and Message-ID
  template_fields fields;
};

/// Error `invalid`: the content or this message would be refused; the text begins with the part, as
/// `mail_composer` has it.
result<mail_preview> make_preview(const content& what, const preview_message& message);

} // namespace paceline
