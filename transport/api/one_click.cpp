#include "transport/api/one_click.hpp"

#include <string>

#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

constexpr std::string_view field = "list-unsubscribe", value = "one-click";

bool is_pair(std::string_view name, std::string_view content) {
  return is_same_ascii(name, field) && is_same_ascii(content, value);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = ascii_lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Escapes that are none stay as they are: the pair has no percent sign, so nothing depends on it.
std::string decoded(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low >= 0) {
      made += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      made += text[i] == '+' ? ' ' : text[i];
    }
  }
  return made;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool has_pair(std::string_view form) {
  while (true) {
    const auto end = form.find('&');
    const auto pair = trimmed(form.substr(0, end));
    if (const auto equals = pair.find('='); equals != std::string_view::npos)
      if (is_pair(decoded(pair.substr(0, equals)), decoded(pair.substr(equals + 1))))
        return true;
    if (end == std::string_view::npos)
      return false;
    form.remove_prefix(end + 1);
  }
}

/// The value of a parameter (`; name=value` or `; name="value"`) of a header; empty without it.
std::string_view parameter(std::string_view header, std::string_view name) {
  for (auto at = header.find(';'); at != std::string_view::npos; at = header.find(';')) {
    header.remove_prefix(at + 1);
    const auto one = trimmed(header.substr(0, header.find(';')));
    const auto equals = one.find('=');
    if (equals == std::string_view::npos || !is_same_ascii(trimmed(one.substr(0, equals)), name))
      continue;
    auto found = trimmed(one.substr(equals + 1));
    if (found.size() >= 2 && found.front() == '"' && found.back() == '"')
      found = found.substr(1, found.size() - 2);
    return found;
  }
  return {};
}

/// The name of a part, from its Content-Disposition (RFC 7578, section 4.2).
std::string_view part_name(std::string_view head) {
  while (!head.empty()) {
    const auto end = head.find('\n');
    const auto line = trimmed(head.substr(0, end));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos
        && is_same_ascii(trimmed(line.substr(0, colon)), "content-disposition"))
      return parameter(line, "name");
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  }
  return {};
}

bool has_part(std::string_view body, std::string_view boundary) {
  const auto delimiter = "--" + std::string{boundary};
  auto at = body.find(delimiter);
  while (at != std::string_view::npos) {
    body.remove_prefix(at + delimiter.size());
    at = body.find(delimiter);
    const auto part = body.substr(0, at);
    auto blank = part.find("\r\n\r\n");
    auto length = 4u;
    if (blank == std::string_view::npos) {
      blank = part.find("\n\n");
      length = 2;
    }
    if (blank != std::string_view::npos
        && is_pair(part_name(part.substr(0, blank)), trimmed(part.substr(blank + length))))
      return true;
  }
  return false;
}

} // namespace

bool is_one_click(std::optional<std::string_view> content_type, std::string_view body) {
  const auto type = content_type.value_or("");
  if (!is_same_ascii(trimmed(type.substr(0, type.find(';'))), "multipart/form-data"))
    return has_pair(body);
  const auto boundary = parameter(type, "boundary");
  return !boundary.empty() && has_part(body, boundary);
}

} // namespace paceline
