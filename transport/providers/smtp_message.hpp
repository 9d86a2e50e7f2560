/// What of a message travels by SMTP: the commands of its envelope, and its text with the dots
/// doubled that begin a line (RFC 5321, section 4.5.2). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/providers/provider.hpp"

namespace paceline {

/// What the server offered in EHLO.
struct smtp_extensions {
  bool pipelining = false; ///< RFC 2920
  bool size = false;       ///< RFC 1870
};

/// `MAIL FROM` and then one `RCPT TO` for each recipient, each with its CRLF. Nothing if an address
/// can't stand in a command (blank, bracket, control character, not ASCII, none at all).
std::optional<std::vector<std::string>> envelope_of(const outgoing_message& message,
                                                    const smtp_extensions& offered);

/// Hands out `raw` and `raw_tail` as they go over the wire.
class smtp_text {
public:
  /// `message` outlives this, or the last `read`.
  explicit smtp_text(const outgoing_message& message);

  /// Appends about `room` octets more, and the final dot with the last of them. False once that is
  /// done: nothing was appended then.
  bool read(std::string& to, std::size_t room);
  /// Whether the final dot was handed out.
  bool is_over() const { return part_ == 3; }

private:
  std::string_view parts_[2];
  std::size_t at_ = 0;
  int part_ = 0;          ///< 0, 1: of `parts_`; 2: only the end is left; 3: over
  bool ends_line_ = true; ///< what was handed out ends in CRLF, or is nothing
  char last_ = '\n';
};

/// The value of the Message-ID field in the head of `raw`; empty without one.
std::string message_id_of(std::string_view raw);

} // namespace paceline
