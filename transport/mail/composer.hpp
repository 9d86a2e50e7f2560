/// From a content and a message's fields to the mail that goes out.
///
/// What all messages of a content share (static headers, structure, the encoded text between the
/// fields, attachments) is computed once in `compile`; a message costs its own fields, its
/// Message-ID, date and links. Bodies come out in 7 bits, headers encoded and folded, every address
/// in ASCII (IDNA). RFC 5322, 2045 to 2047, 2231, 2369, 2392, 8058.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/claims.hpp"
#include "storage/contents.hpp"
#include "storage/result.hpp"
#include "transport/mail/unsubscribe_link.hpp"
#include "transport/providers/provider.hpp"

namespace paceline {

struct composer_options {
  mail_form form = mail_form::raw;
};

/// What of a message its content does not say.
struct composed_for {
  const due_message& row;
  std::int64_t unix_seconds = 0; ///< of the Date header
  /// Where the message is a campaign's and links are configured.
  const unsubscribe_links* links = nullptr;
  std::string_view environment; ///< for the links
};

/// Immutable once compiled; safe to use from one thread at a time.
///
/// Form `raw`: From, To, Cc (as given, or the recipients; never Bcc), Subject, the content's own
/// headers, Date, `Message-ID: <ID.VERSION@SENDER-DOMAIN>`, by which a reader's complaint finds the
/// attempt, List-Unsubscribe with List-Unsubscribe-Post where there are links, and the MIME
/// structure of `mime_frame`. Blanks at the ends of a header's value are dropped; so is a header
/// that came out empty, but for the subject. A message of one part ends with a line break.
///
/// Form `parts`: the same values unencoded; `headers` has the content's own and the links.
class mail_composer {
public:
  /// Error `invalid` names the part (`from`, `subject`, `text`, `html`, `headers.NAME`, `defaults`,
  /// `attachments[N].name`) and the problem. Headers that Paceline sets, List-Unsubscribe among
  /// them, are refused.
  static result<mail_composer> compile(const content& what, const composer_options& options);
  mail_composer(mail_composer&&) noexcept;
  mail_composer& operator=(mail_composer&&) noexcept;
  ~mail_composer();

  /// Error `invalid`: a field is missing and the content rejects that, a header came out with CR,
  /// LF or NUL, or a bound was exceeded (1 MiB a body, 998 octets a header). A retry never helps.
  result<outgoing_message> compose(const composed_for& what) const;

  /// Octets that all messages share in memory: what a cache of composers counts.
  std::size_t memory() const;
  /// About the octets of one message as it goes out, attachments included.
  std::size_t typical_size() const;

private:
  struct parts;
  explicit mail_composer(std::unique_ptr<parts> compiled);
  std::unique_ptr<parts> parts_;
};

} // namespace paceline
