/// The part of a request that says what is sent: sender, subject, bodies, headers, attachments, and
/// what becomes of missing fields. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/contents.hpp"
#include "transport/api/json_fields.hpp"
#include "transport/mail/template.hpp"

namespace paceline {

/// `empty`, `default` or `reject`.
std::optional<missing_field> parse_missing(std::string_view choice);

/// A content that was found good, without an id.
class content_reading {
public:
  content what;
  std::string sender_domain; ///< lower case

  /// Reads `from`, `subject`, `text`, `html`, `headers`, `reply_to`, `attachments`, `missing` and
  /// `defaults`; compiles the templates.
  static content_reading read(object_fields& from);
  /// The request has one of these members.
  static bool is_in(const object_fields& from);

  /// What is wrong with the subject and the headers that these fields make; nothing if they are
  /// fine. To be asked only about fields with line breaks in them: nothing else can break a header.
  std::optional<std::string> header_problem(std::string_view fields) const;

private:
  void compile_templates(object_fields& from);

  std::shared_ptr<const mail_template> headers_; ///< only where subject or headers have tags
};

} // namespace paceline
