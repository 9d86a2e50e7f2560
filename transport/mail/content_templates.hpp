/// All templates of a content, compiled and checked: subject, bodies and the values of headers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/contents.hpp"
#include "storage/result.hpp"
#include "transport/mail/address.hpp"
#include "transport/mail/field_tree.hpp"
#include "transport/mail/template_part.hpp"

namespace paceline {

struct header_template {
  std::string name;
  template_part value;
  bool is_mailboxes = false; ///< a list of mailboxes: Reply-To
};

/// Immutable once compiled; safe to use from one thread at a time.
class content_templates {
public:
  static constexpr std::size_t max_headers = 50;

  /// `encodes_bodies` as in `part_rules::encodes`. Error `invalid` names the part (`subject`,
  /// `text`, `html`, `headers.NAME`, `defaults`) and the problem.
  static result<content_templates> compile(const content& what, bool encodes_bodies);

  const template_part& subject() const { return subject_; }
  const template_part& text_body() const { return text_body_; }
  const template_part& html_body() const { return html_body_; }
  const std::vector<header_template>& headers() const { return headers_; }

  /// What a message with these fields fills the templates with. Points into both.
  field_values with(const kainjow::mustache::data& own) const {
    return {&own, &defaults_, missing_};
  }

  /// The subject, and a header's value, as they go into the head: one check for both. Throw
  /// `rendering_failure`.
  std::string subject_for(const field_values& fields) const;
  static std::string value_for(const header_template& header, const field_values& fields);

  std::size_t memory() const;

private:
  template_part subject_, text_body_, html_body_;
  std::vector<header_template> headers_;
  kainjow::mustache::data defaults_;
  missing_field missing_ = missing_field::empty;
};

} // namespace paceline
