/// Address syntax as a bulk sender needs it: stricter than RFC 5321, because providers are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// The address without surrounding blanks and byte order mark, or what is wrong with it. One `@`;
/// local part 1 to 64 octets of RFC 5322 dot-atom; domain 1 to 253 octets, labels of letters,
/// digits and inner hyphens, at least two of them and the last not a number; total at most 254
/// octets; no control characters. A quoted local part is refused, though RFC 5322 allows it, and so
/// is one outside ASCII (RFC 6531), which providers don't take. A domain outside ASCII comes back
/// as the DNS has it (IDNA), so that an address has one spelling and is ASCII from here on.
struct address_check {
  std::optional<std::string> address;
  std::string problem; ///< for people, empty if fine
};
address_check check_address(std::string_view text);

/// Somebody in the head of a message.
struct mail_address {
  std::string name;    ///< display name as people read it, UTF-8; may be empty
  std::string address; ///< as `check_address` returns it

  /// `"Name" <address>` or the bare address, in UTF-8: what `check_mailbox` reads again.
  std::string text() const;
};

/// `Name <local@domain>` or a bare address. The name is UTF-8, in double quotes if it has special
/// characters. At most 320 octets; no CR, LF, NUL or other control character.
struct mailbox_check {
  std::optional<mail_address> mailbox;
  std::string problem; ///< for people, empty if fine
};
mailbox_check check_mailbox(std::string_view text);

/// A mailbox that `check_mailbox` accepts, with its domain in ASCII and otherwise as it was: what
/// is stored as a content's sender, because the database compares domains.
std::string ascii_mailbox(std::string_view mailbox);

/// Mailboxes with commas between, 1 to 10.
struct mailbox_list_check {
  std::vector<mail_address> mailboxes; ///< empty if there is a problem
  std::string problem;
};
mailbox_list_check check_mailbox_list(std::string_view text);

/// What is wrong with a sender, or nothing.
std::optional<std::string> sender_problem(std::string_view mailbox);

} // namespace paceline
