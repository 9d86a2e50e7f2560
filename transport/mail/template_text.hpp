/// What we accept of Mustache, checked and prepared for the engine before it sees the text.
///
/// Accepted: variables, unescaped variables, sections, inverted sections and comments. Refused:
/// partials, because the engine would render the value of a field as a template, and changed
/// delimiters, because nobody needs them here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/result.hpp"

namespace paceline {

/// A template whose plain text was taken out: the engine would walk it word by word on each
/// rendering, and would not count it against a limit. `{{{\x01N}}}` stands for `texts[N]`.
struct prepared_template {
  std::string pattern;
  std::vector<std::string> texts;
  bool has_tags = false; ///< if not, the rendering is the template itself
};

/// The first octet of the names that stand for plain text; no field's name is taken for one.
constexpr char plain_text_mark = '\x01';

/// Error `invalid` names the problem and the line: a tag that is not closed, a section that is not
/// closed or not opened, more than 32 sections in each other, something refused.
result<prepared_template> prepare_template(std::string_view text);

} // namespace paceline
