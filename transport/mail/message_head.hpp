/// The head of a message in the form `raw`, up to MIME-Version.
#pragma once

#include <string>
#include <vector>

#include "transport/mail/composer.hpp"
#include "transport/mail/content_templates.hpp"
#include "transport/mail/message_lists.hpp"

namespace paceline {

/// `Tue, 01 Dec 2026 01:44:10 +0000` (RFC 5322, section 3.3).
std::string mail_date(std::int64_t unix_seconds);

/// `<https link>`, as List-Unsubscribe has it.
std::string unsubscribe_value(const composed_for& what);
inline constexpr std::string_view one_click = "List-Unsubscribe=One-Click";

/// Writes heads; what is the same for all messages of a content is made once. Immutable.
class message_head {
public:
  /// `templates` outlives this.
  message_head(const content_templates& templates, const mail_address& sender);

  /// Throws `rendering_failure`; `part` says then where.
  void write(const composed_for& what, const visible_mailboxes& visible, const field_values& fields,
             std::string& to, std::string& part) const;

  std::size_t memory() const;

private:
  void write_own(const header_template& header, const field_values& fields, std::string& to) const;

  const content_templates& templates_;
  std::string from_, subject_;   ///< whole fields; `subject_` is empty where it varies
  std::vector<std::string> own_; ///< of `content_templates::headers`, in their order, as well
  std::string domain_;           ///< the sender's, for Message-ID
};

} // namespace paceline
