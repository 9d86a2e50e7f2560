#include "transport/mail/address.hpp"

#include <algorithm>
#include <cassert>

#include "config/text.hpp"
#include "transport/mail/international_domain.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_local = 64, max_domain = 253, max_label = 63, max_address = 254;
/// What spreadsheets put in front of a file's first cell.
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t max_listed = 10;
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

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

/// What is wrong before the domain is looked at, which may still be outside ASCII.
std::string_view problem_around(std::string_view text, std::size_t at) {
  if (text.empty())
    return "no address";
  if (std::any_of(text.begin(), text.end(), is_control))
    return "a control character";
  if (at == std::string_view::npos)
    return "no @";
  if (text.find('@', at + 1) != std::string_view::npos)
    return "more than one @";
  if (!is_ascii(text.substr(0, at)))
    return "a character outside ASCII before the @, which no provider delivers to";
  return local_problem(text.substr(0, at));
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

/// A name that `display_name_problem` found nothing wrong with, as people read it.
std::string unquoted(std::string_view name) {
  if (!name.starts_with('"'))
    return std::string{name};
  std::string text;
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '\\')
      ++i;
    text += name[i];
  }
  return text;
}

/// Where the first comma is that no quoted name holds, or the end.
std::size_t end_of_mailbox(std::string_view text) {
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && is_quoted)
      ++i;
    else if (text[i] == '"')
      is_quoted = !is_quoted;
    else if (text[i] == ',' && !is_quoted)
      return i;
  }
  return text.size();
}

} // namespace

address_check check_address(std::string_view text) {
  if (text.starts_with(byte_order_mark))
    text.remove_prefix(byte_order_mark.size());
  text = without_blanks(text);
  const auto at = text.find('@');
  if (auto problem = problem_around(text, at); !problem.empty())
    return {std::nullopt, std::string{problem}};
  std::string address{text};
  if (const auto domain = text.substr(at + 1); needs_idna(domain)) {
    const auto ascii = ascii_domain(domain);
    if (!ascii)
      return {std::nullopt, "a domain that international domain names (IDNA) don't allow"};
    address.replace(at + 1, std::string::npos, *ascii);
  }
  if (auto problem = domain_problem(std::string_view{address}.substr(at + 1)); !problem.empty())
    return {std::nullopt, std::string{problem}};
  if (address.size() > max_address)
    return {std::nullopt, "more than 254 characters"};
  return {std::move(address), {}};
}

std::string mail_address::text() const {
  if (name.empty())
    return address;
  std::string text{'"'};
  for (const char c : name) {
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + "\" <" + address + '>';
}

mailbox_check check_mailbox(std::string_view mailbox) {
  const auto fail = [](std::string problem) {
    return mailbox_check{std::nullopt, std::move(problem)};
  };
  if (std::any_of(mailbox.begin(), mailbox.end(), is_control))
    return fail("a control character (line break, NUL, ...)");
  if (first_invalid_utf8(mailbox))
    return fail("text that is not UTF-8");
  if (mailbox.size() > max_sender)
    return fail("more than 320 octets");
  const auto text = without_blanks(mailbox);
  auto address = text;
  mail_address found;
  if (!text.empty() && text.back() == '>') {
    const auto open = text.rfind('<');
    if (open == std::string_view::npos)
      return fail("a > without a <");
    const auto name = without_blanks(text.substr(0, open));
    if (auto problem = display_name_problem(name); !problem.empty())
      return fail(std::string{problem});
    found.name = unquoted(name);
    address = text.substr(open + 1, text.size() - open - 2);
  }
  auto checked = check_address(address);
  if (!checked.address)
    return fail(std::move(checked.problem));
  if (mailbox.size() - address.size() + checked.address->size() > max_sender)
    return fail("more than 320 octets once its domain is in ASCII");
  found.address = std::move(*checked.address);
  return {std::move(found), {}};
}

std::string ascii_mailbox(std::string_view mailbox) {
  const auto checked = check_mailbox(mailbox);
  assert(checked.mailbox);
  std::string text{mailbox};
  const auto& address = checked.mailbox->address;
  if (text.find(address) != std::string::npos)
    return text;
  const auto open = text.rfind('<');
  return open == std::string::npos ? address : text.substr(0, open) + '<' + address + '>';
}

mailbox_list_check check_mailbox_list(std::string_view text) {
  mailbox_list_check list;
  for (bool is_more = true; is_more;) {
    const auto end = end_of_mailbox(text);
    is_more = end < text.size();
    auto checked = check_mailbox(text.substr(0, end));
    if (!checked.mailbox)
      return {{}, std::move(checked.problem)};
    if (list.mailboxes.size() == max_listed)
      return {{}, "more than 10 addresses"};
    list.mailboxes.push_back(std::move(*checked.mailbox));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

std::optional<std::string> sender_problem(std::string_view mailbox) {
  auto checked = check_mailbox(mailbox);
  if (checked.mailbox)
    return std::nullopt;
  return std::move(checked.problem);
}

} // namespace paceline
