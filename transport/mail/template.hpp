/// Mustache templates for subject, bodies and headers, parsed once per content and rendered per
/// message.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/contents.hpp"
#include "storage/result.hpp"
#include "transport/mail/template_text.hpp"

namespace paceline {

struct rendered_mail {
  std::string subject, text_body, html_body;
  std::vector<std::pair<std::string, std::string>> headers; ///< without those that came out empty
};

/// One content's templates, compiled. Immutable; safe to use from one thread at a time.
class mail_template {
public:
  /// Error `invalid` names the part (subject, text, html, headers.NAME, defaults) and the problem;
  /// limits: 1 MiB a part, 998 octets a header, 50 headers.
  static result<mail_template> compile(const content&);
  mail_template(mail_template&&) noexcept;
  mail_template& operator=(mail_template&&) noexcept;
  ~mail_template();

  /// `fields` is a JSON object of texts, numbers, booleans, lists and objects. HTML escapes
  /// (`{{name}}`; `{{{name}}}` is raw); subject, text and headers don't.
  ///
  /// A variable whose field is missing (not there, null, false or an empty text) is treated as
  /// `content::missing` says. Sections ask only the message's own fields, never the defaults, and a
  /// missing field is no error to them.
  ///
  /// Error `invalid`: fields aren't an object, a field is missing and may not be, the result
  /// exceeds 1 MiB, or subject or header came out with CR, LF, NUL or another control character.
  result<rendered_mail> render(std::string_view fields) const;

  /// What the templates ask for, each name once.
  std::vector<template_field> fields() const;

private:
  struct parts;
  explicit mail_template(std::unique_ptr<parts> compiled);
  std::unique_ptr<parts> parts_;
};

} // namespace paceline
