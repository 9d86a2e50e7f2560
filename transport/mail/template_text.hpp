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

/// A name that a template asks for.
struct template_field {
  std::string name;
  bool is_printed = false; ///< as a variable; otherwise only sections ask for it
  bool outside_section =
      false; ///< at least once; inside, it may be a member of the section's items
};

/// A template whose plain text was taken out: the engine would walk it word by word on each
/// rendering, and would not count it against a limit. `{{{\x01N}}}` stands for `texts[N]`. The
/// names of variables, but not those of sections, begin with `\x02`, so that a look-up can tell
/// whether a value is wanted or only whether there is one.
struct prepared_template {
  std::string pattern;
  std::vector<std::string> texts;
  std::vector<template_field> fields; ///< each name once, in the order of appearance
  bool has_tags = false;              ///< if not, the rendering is the template itself
};

/// The first octets of the names that stand for plain text and for variables; no field's name is
/// taken for one.
constexpr char plain_text_mark = '\x01', variable_mark = '\x02';

/// Error `invalid` names the problem and the line: a tag that is not closed, a section that is not
/// closed or not opened, more than 32 sections in each other, something refused.
result<prepared_template> prepare_template(std::string_view text);

} // namespace paceline
