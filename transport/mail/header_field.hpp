/// One field of a message's head, encoded and folded: RFC 5322 section 2.2.3, RFC 2047. Pure.
///
/// Lines are folded before blanks so that they have at most 76 octets where there is a blank to
/// fold at, and 998 in any case. Unfolded, the value is what it was, but for blanks at its ends,
/// which are dropped. An encoded word has at most 75 octets and holds whole characters. A text that
/// only looks like an encoded word is encoded, so that nobody decodes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/mail/address.hpp"

namespace paceline {

/// Writes one field. The values have passed `header_value_problem`.
class header_field {
public:
  /// Begins `Name: `. `out` outlives this.
  header_field(std::string& out, std::string_view name);

  /// Free text: Subject and fields that nobody knows.
  void unstructured(std::string_view text);
  /// `Name <address>` or the bare address; after the last one `more` is false.
  void mailbox(const mail_address& who, bool more);
  /// A bare address.
  void address(std::string_view address, bool more);
  /// ASCII words, folded at their blanks.
  void words(std::string_view text);
  /// Ends the line.
  void finish();

private:
  void word(std::string_view blanks, std::string_view text, std::string_view end = {});
  void fold(std::string_view blanks);
  void encoded_words(std::string_view text);
  bool at_begin() const { return out_.size() == begin_; }

  std::string& out_;
  std::size_t begin_ = 0; ///< of the value
  std::size_t line_ = 0;  ///< where in `out_` the line begins
};

/// `Name: value` CRLF.
void append_text_field(std::string& to, std::string_view name, std::string_view value);
/// `Name: mailbox, mailbox` CRLF. `all` is not empty.
void append_mailbox_field(std::string& to, std::string_view name,
                          const std::vector<mail_address>& all);

} // namespace paceline
