#include "transport/mail/address.hpp"

#include <algorithm>

#include "config/text.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_local = 64, max_domain = 253, max_label = 63, max_address = 254;
constexpr std::size_t max_sender = 320; ///< a display name of some 60 characters and an address

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// RFC 5322, section 3.2.3.
bool is_atom_character(char c) {
  constexpr std::string_view others = "!#$%&'*+-/=?^_`{|}~";
  return is_letter(c) || is_digit(c) || others.find(c) != std::string_view::npos;
}

std::string_view without_blanks(std::string_view text) {
  auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view local_problem(std::string_view local) {
  if (local.empty())
    return "nothing before the @";
  if (local.size() > max_local)
    return "more than 64 characters before the @";
  if (local.front() == '.' || local.back() == '.' || local.find("..") != std::string_view::npos)
    return "a dot at the begin or end of the part before the @, or two in a row";
  if (!std::all_of(local.begin(), local.end(),
                   [](char c) { return is_atom_character(c) || c == '.'; }))
    return "a character before the @ that is not allowed there";
  return {};
}

std::string_view label_problem(std::string_view label) {
  if (label.empty())
    return "an empty part in the domain";
  if (label.size() > max_label)
    return "a part of the domain has more than 63 characters";
  if (label.front() == '-' || label.back() == '-')
    return "a part of the domain begins or ends with a hyphen";
  if (!std::all_of(label.begin(), label.end(),
                   [](char c) { return is_letter(c) || is_digit(c) || c == '-'; }))
    return "a character in the domain that is not allowed there";
  return {};
}

std::string_view domain_problem(std::string_view domain) {
  if (domain.empty())
    return "nothing after the @";
  if (domain.size() > max_domain)
    return "a domain of more than 253 characters";
  auto rest = domain;
  auto dot = rest.find('.');
  if (dot == std::string_view::npos)
    return "a domain without a dot";
  for (; dot != std::string_view::npos; dot = rest.find('.')) {
    if (auto problem = label_problem(rest.substr(0, dot)); !problem.empty())
      return problem;
    rest.remove_prefix(dot + 1);
  }
  if (auto problem = label_problem(rest); !problem.empty())
    return problem;
  if (std::all_of(rest.begin(), rest.end(), is_digit))
    return "a domain that ends in a number";
  return {};
}

std::string_view problem_of(std::string_view text) {
  if (text.empty())
    return "no address";
  if (std::any_of(text.begin(), text.end(), is_control))
    return "a control character";
  if (std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; }))
    return "a character outside ASCII";
  auto at = text.find('@');
  if (at == std::string_view::npos)
    return "no @";
  if (text.find('@', at + 1) != std::string_view::npos)
    return "more than one @";
  if (text.size() > max_address)
    return "more than 254 characters";
  if (auto problem = local_problem(text.substr(0, at)); !problem.empty())
    return problem;
  return domain_problem(text.substr(at + 1));
}

/// What stands before `<`: words, or one quoted string with backslash escapes.
std::string_view display_name_problem(std::string_view name) {
  if (name.empty() || name.front() != '"') {
    if (name.find_first_of("\"<>@,;:()[]\\") != std::string_view::npos)
      return "a special character in the name: put the name in double quotes";
    return {};
  }
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (name[i] == '\\')
      ++i;
    else if (name[i] == '"')
      return i + 1 == name.size() ? std::string_view{} : "text after the quoted name";
  }
  return "a quoted name without its closing quote";
}

} // namespace

address_check check_address(std::string_view text) {
  auto address = without_blanks(text);
  if (auto problem = problem_of(address); !problem.empty())
    return {std::nullopt, std::string{problem}};
  return {std::string{address}, {}};
}

std::optional<std::string> sender_problem(std::string_view mailbox) {
  if (std::any_of(mailbox.begin(), mailbox.end(), is_control))
    return "a control character (line break, NUL, ...)";
  if (first_invalid_utf8(mailbox))
    return "text that is not UTF-8";
  if (mailbox.size() > max_sender)
    return "more than 320 octets";
  auto text = without_blanks(mailbox);
  auto address = text;
  if (!text.empty() && text.back() == '>') {
    auto open = text.rfind('<');
    if (open == std::string_view::npos)
      return "a > without a <";
    if (auto problem = display_name_problem(without_blanks(text.substr(0, open))); !problem.empty())
      return std::string{problem};
    address = text.substr(open + 1, text.size() - open - 2);
  }
  if (auto problem = problem_of(address); !problem.empty())
    return std::string{problem};
  return std::nullopt;
}

} // namespace paceline
