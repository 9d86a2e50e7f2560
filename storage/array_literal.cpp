#include "storage/array_literal.hpp"

namespace paceline {
namespace array_detail {

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  for (auto at = text.find_first_of("\"\\"); at != std::string_view::npos;
       at = text.find_first_of("\"\\")) {
    to.append(text.substr(0, at)).push_back('\\');
    to.push_back(text[at]);
    text.remove_prefix(at + 1);
  }
  to.append(text).push_back('"');
}

} // namespace array_detail

namespace {

/// Reads one element that starts at `at` and leaves `at` behind it.
std::optional<std::string> parse_element(std::string_view literal, std::size_t& at) {
  std::string text;
  const bool quoted = at < literal.size() && literal[at] == '"';
  if (quoted)
    ++at;
  for (; at < literal.size(); ++at) {
    const char c = literal[at];
    if (quoted ? c == '"' : (c == ',' || c == '}'))
      break;
    if (c == '\\' && at + 1 < literal.size())
      ++at;
    text += literal[at];
  }
  if (quoted)
    ++at;
  else if (text == "NULL")
    return std::nullopt;
  return text;
}

} // namespace

std::vector<std::optional<std::string>> parse_array(std::string_view literal) {
  std::vector<std::optional<std::string>> elements;
  if (literal.size() < 2 || literal.front() != '{' || literal == "{}")
    return elements;
  std::size_t at = 1;
  while (at < literal.size()) {
    elements.push_back(parse_element(literal, at));
    ++at; // the comma or the closing brace
  }
  return elements;
}

std::vector<std::string> parse_text_array(std::string_view literal) {
  std::vector<std::string> texts;
  for (auto& element : parse_array(literal))
    texts.push_back(element ? std::move(*element) : std::string{});
  return texts;
}

} // namespace paceline
