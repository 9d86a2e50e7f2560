/// PostgreSQL array literals: arrays travel as text parameters with a cast in the SQL
/// (`$1::bigint[]`, `$2::text[]`), which works prepared and unprepared alike.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/ids.hpp"

namespace paceline {

namespace array_detail {

inline void append(std::string& to, std::integral auto value) {
  to += std::to_string(value);
}
inline void append(std::string& to, bool value) {
  to += value ? 't' : 'f';
}
template <class Tag>
void append(std::string& to, const strong_id<Tag>& id) {
  to += std::to_string(id.value());
}
template <class T>
void append(std::string& to, const std::optional<T>& value) {
  if (value)
    append(to, *value);
  else
    to += "NULL";
}
/// Always quoted, so that an empty text, blanks and the word NULL stay what they are.
void append_quoted(std::string& to, std::string_view text);
inline void append_text(std::string& to, std::string_view text) {
  append_quoted(to, text);
}
inline void append_text(std::string& to, const std::string& text) {
  append_quoted(to, text);
}
template <class Text>
void append_text(std::string& to, const std::optional<Text>& text) {
  if (text)
    append_text(to, *text);
  else
    to += "NULL";
}

} // namespace array_detail

/// `{1,NULL,3}` from integers, bools, strong ids, or optionals of those.
template <std::ranges::input_range Range>
std::string array_literal(const Range& values) {
  std::string text = "{";
  for (const auto& value : values) {
    if (text.size() > 1)
      text += ',';
    array_detail::append(text, value);
  }
  return text += '}';
}

/// `{"a","say \"hi\"",NULL}` from strings, string views or optional strings. A NUL in a text is
/// refused later by `session::run`.
template <std::ranges::input_range Range>
std::string text_array_literal(const Range& values) {
  std::string text = "{";
  for (const auto& value : values) {
    if (text.size() > 1)
      text += ',';
    array_detail::append_text(text, value);
  }
  return text += '}';
}

/// Elements of a one-dimensional array as PostgreSQL prints it; NULL elements are empty optionals.
std::vector<std::optional<std::string>> parse_array(std::string_view literal);

/// The same for arrays that hold no NULL, such as `messages.recipients`; a NULL becomes "".
std::vector<std::string> parse_text_array(std::string_view literal);

} // namespace paceline
