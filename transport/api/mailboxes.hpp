/// Addresses in requests: checked, normalised, and each recipient once. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/api/json_fields.hpp"

namespace paceline {

struct mailbox_reading {
  std::string address;   ///< as `check_address` returns it; empty if there is a problem
  bool has_name = false; ///< more than the bare address was given
  std::string problem;   ///< what is wrong; empty if fine
};
/// `anna@example.com` or `Anna <anna@example.com>`, at most 320 octets, no control characters.
mailbox_reading read_mailbox(std::string_view text);

/// Lower case, of an address that was found good.
std::string domain_of(std::string_view address);

/// Whether the project lets this domain send: it is in the list, or below a domain of the list; an
/// empty list lets every domain send. `domain` is lower case.
bool is_sender_domain(std::string_view domain, const std::vector<std::string>& allowed);

/// To whom a message goes.
struct envelope {
  static constexpr std::size_t most = 50;
  std::vector<std::string> recipients;  ///< normalised, distinct, in the order to, cc, bcc
  std::optional<std::string> addresses; ///< to, cc and bcc as given: a JSON object, where they are
                                        ///< more than bare addresses in `to`
};
/// Reads `to` (needed), `cc` and `bcc`: each a text or an array of texts.
void read_envelope(object_fields& from, envelope& into);

/// A mailbox or an array of up to 10, as the value of a header; nothing if absent or wrong.
std::optional<std::string> read_mailbox_list(object_fields& from, std::string_view name);

} // namespace paceline
