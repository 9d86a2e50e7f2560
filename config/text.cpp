#include "config/text.hpp"

#include <algorithm>
#include <cctype>

namespace paceline {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD"; // U+FFFD
constexpr std::string_view mask = "***";
constexpr char hex_digits[] = "0123456789abcdef";

unsigned octet(std::string_view text, std::size_t position) {
  return static_cast<unsigned char>(text[position]);
}

/// C0, DEL, and C1 (in UTF-8: C2 80 to C2 9F), which terminals act on too.
bool is_control(std::string_view sequence) {
  unsigned first = octet(sequence, 0);
  if (sequence.size() == 1)
    return first < 0x20 || first == 0x7F;
  return sequence.size() == 2 && first == 0xC2 && octet(sequence, 1) < 0xA0;
}

/// The code of what `is_control` found.
unsigned control_code(std::string_view sequence) {
  return octet(sequence, sequence.size() - 1);
}

void append_hex(std::string& out, std::string_view prefix, unsigned code) {
  out += prefix;
  out += hex_digits[(code >> 4) & 15];
  out += hex_digits[code & 15];
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool names_a_secret(std::string_view key) {
  return key.find("pass") != std::string_view::npos && key != "passfile";
}

/// Whether libpq could have such a parameter; part of a URI with an odd scheme is none.
bool is_parameter(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_';
  });
}

/// Where the value that starts at `at` ends, quotes and backslashes as libpq reads them; nothing
/// if a quote stays open.
std::optional<std::size_t> end_of_value(std::string_view dsn, std::size_t at) {
  bool quoted = at < dsn.size() && dsn[at] == '\'';
  for (std::size_t i = quoted ? at + 1 : at; i < dsn.size(); ++i) {
    if (dsn[i] == '\\')
      ++i;
    else if (quoted && dsn[i] == '\'')
      return i + 1;
    else if (!quoted && is_space(dsn[i]))
      return i;
  }
  if (quoted)
    return std::nullopt;
  return dsn.size();
}

std::string mask_pairs(std::string_view dsn) {
  std::string out;
  std::size_t at = 0;
  auto skip_spaces = [&dsn, &at] {
    while (at < dsn.size() && is_space(dsn[at]))
      ++at;
  };
  for (skip_spaces(); at < dsn.size(); skip_spaces()) {
    auto key_start = at;
    while (at < dsn.size() && dsn[at] != '=' && !is_space(dsn[at]))
      ++at;
    auto key = dsn.substr(key_start, at - key_start);
    skip_spaces();
    if (at == dsn.size() || dsn[at] != '=' || !is_parameter(key))
      return std::string{mask};
    ++at;
    skip_spaces();
    auto end = end_of_value(dsn, at);
    if (!end)
      return std::string{mask};
    if (!out.empty())
      out += ' ';
    out.append(key) += '=';
    out += names_a_secret(key) ? mask : dsn.substr(at, *end - at);
    at = *end;
  }
  return out;
}

std::string mask_query(std::string_view query) {
  std::string out;
  while (true) {
    auto pair = query.substr(0, query.find('&'));
    auto key = pair.substr(0, pair.find('='));
    // A percent sign may spell "password" in a way that libpq decodes and we do not.
    bool hidden = names_a_secret(key) || key.find('%') != std::string_view::npos;
    if (hidden && key.size() < pair.size())
      out.append(key).append("=").append(mask);
    else
      out += pair;
    if (pair.size() == query.size())
      return out;
    out += '&';
    query.remove_prefix(pair.size() + 1);
  }
}

/// From the first colon after `scheme` to the last `@`: a password may itself hold `/`, `?`, `@`.
std::string mask_uri(std::string_view dsn, std::size_t scheme) {
  std::string out{dsn.substr(0, scheme)};
  auto rest = dsn.substr(scheme);
  if (auto last_at = rest.rfind('@'); last_at != std::string_view::npos) {
    auto user = rest.substr(0, last_at);
    if (auto colon = user.find(':'); colon != std::string_view::npos)
      out.append(user.substr(0, colon + 1)).append(mask);
    else
      out += user;
    rest.remove_prefix(last_at);
  }
  auto query = rest.find('?');
  out += rest.substr(0, query);
  if (query != std::string_view::npos)
    out.append("?").append(mask_query(rest.substr(query + 1)));
  return out;
}

} // namespace

std::size_t utf8_sequence(std::string_view text, std::size_t position) {
  unsigned first = octet(text, position);
  if (first < 0x80)
    return 1;
  std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                       : first >= 0xE0 && first <= 0xEF ? 3
                       : first >= 0xF0 && first <= 0xF4 ? 4
                                                        : 0;
  if (length == 0 || length > text.size() - position)
    return 0;
  unsigned second = octet(text, position + 1);
  unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < low || second > high)
    return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((octet(text, position + i) & 0xC0) != 0x80)
      return 0;
  return length;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto length = utf8_sequence(text, i);
    if (length == 0)
      return i;
    i += length;
  }
  return std::nullopt;
}

std::string printable(std::string_view text, std::size_t max_octets) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (out.size() >= max_octets)
      return out += "...";
    auto sequence = text.substr(i, utf8_sequence(text, i));
    if (sequence.empty())
      out += replacement;
    else if (sequence == "\n")
      out += "\\n";
    else if (is_control(sequence))
      append_hex(out, "\\x", control_code(sequence));
    else
      out += sequence;
    i += sequence.empty() ? 1 : sequence.size();
  }
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    auto sequence = text.substr(i, utf8_sequence(text, i));
    if (sequence.empty())
      out += replacement;
    else if (sequence == "\"" || sequence == "\\")
      out.append("\\").append(sequence);
    else if (sequence == "\n")
      out += "\\n";
    else if (is_control(sequence))
      append_hex(out, "\\u00", control_code(sequence));
    else
      out += sequence;
    i += sequence.empty() ? 1 : sequence.size();
  }
  return out += '"';
}

std::string mask_address(std::string_view address) {
  auto at = address.rfind('@');
  if (at == std::string_view::npos)
    return std::string{mask};
  auto local = address.substr(0, at);
  std::string out;
  if (!local.empty())
    out += local.substr(0, utf8_sequence(local, 0));
  return out.append(mask).append(address.substr(at));
}

std::string mask_dsn(std::string_view dsn) {
  for (std::string_view scheme : {"postgresql://", "postgres://"})
    if (dsn.starts_with(scheme))
      return mask_uri(dsn, scheme.size());
  return mask_pairs(dsn);
}

} // namespace paceline
