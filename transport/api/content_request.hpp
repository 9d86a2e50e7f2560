/// The part of a request that says what is sent: sender, subject, bodies, headers. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/contents.hpp"
#include "transport/api/json_fields.hpp"
#include "transport/mail/template.hpp"

namespace paceline {

/// A content that was found good, without an id.
class content_reading {
public:
  content what;
  std::string sender_domain; ///< lower case

  /// Reads `from`, `subject`, `text`, `html`, `headers` and `reply_to`; compiles the templates.
  static content_reading read(object_fields& from);
  /// The request has one of these members.
  static bool is_in(const object_fields& from);

  /// What is wrong with the subject that these fields make; nothing if it is fine. To be asked only
  /// about fields with line breaks in them: nothing else can break a header.
  std::optional<std::string> subject_problem(std::string_view fields) const;

private:
  std::shared_ptr<const mail_template> subject_; ///< only where the subject has tags
};

} // namespace paceline
