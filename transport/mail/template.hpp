/// Mustache templates for subject and bodies, parsed once per content and rendered per message.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/contents.hpp"
#include "storage/result.hpp"

namespace paceline {

struct rendered_mail {
  std::string subject, text_body, html_body;
};

/// One content's templates, compiled. Immutable; safe to use from one thread at a time.
class mail_template {
public:
  /// Error `invalid` names the part (subject, text, html) and the problem; limits: 1 MiB a part,
  /// 998 octets subject.
  static result<mail_template> compile(const content&);
  mail_template(mail_template&&) noexcept;
  mail_template& operator=(mail_template&&) noexcept;
  ~mail_template();

  /// `fields` is a JSON object of texts, numbers, booleans, lists and objects; missing fields
  /// render empty. HTML escapes (`{{name}}`; `{{{name}}}` is raw); subject and text don't. Error
  /// `invalid`: fields aren't an object, the result exceeds 1 MiB, or the subject came out with CR,
  /// LF or NUL.
  result<rendered_mail> render(std::string_view fields) const;

private:
  struct parts;
  explicit mail_template(std::unique_ptr<parts> compiled);
  std::unique_ptr<parts> parts_;
};

} // namespace paceline
