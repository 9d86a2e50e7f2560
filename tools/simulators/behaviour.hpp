/// What a stand-in can do with a call instead of taking and answering it.
///
/// Two ways ask for it, by the same names: the recipient (`throttle@simulator.paceline.test`,
/// labels after `+` apart) for one message, and the control endpoint for a share of all calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::simulators {

enum class behaviour {
  success,
  slow,          ///< 10 x the latency
  once_throttle, ///< refused for the rate the first time a message asks, taken the second
  // Refused: the message was not taken.
  throttle,
  daily_quota,
  paused,               ///< the account's sending
  suspended,            ///< the account
  reject,               ///< this message's content
  unverified,           ///< the sender's identity
  unverified_recipient, ///< a recipient's: the sandbox
  config_set_missing,
  mail_from,   ///< the MAIL FROM domain
  bad_request, ///< this message's addresses
  access_denied,
  clock_skew, ///< our clock is 20 minutes ahead, in the Date header, too
  unavailable,
  redirect,
  close_before_read, ///< connection reset, the request unread
  // Taken, and the caller does not learn so (or not in time).
  error,
  bad_gateway,
  gateway_timeout,
  timeout, ///< no answer, the connection stays open
  hang,    ///< a late answer
  close_after_read,
  cut_body,  ///< less body than announced, then the end
  truncated, ///< a whole answer whose JSON is cut
  no_id,
  endless,      ///< a body without end
  many_headers, ///< 1,000 of them
  large_body,   ///< 4 MiB
  // SMTP
  slow_banner,
  closing, ///< 421 and the end
  auth_failed,
};

/// The names above with `-` for `_`; besides `none`, `500`, `502`, `503`, `504`, `421`,
/// `disconnect` (close-after-read) and `malformed` (truncated).
std::optional<behaviour> behaviour_named(std::string_view name);
std::string name_of(behaviour what);
/// All of them, for errors.
std::string behaviour_names();

/// Whether the provider has the message afterwards: such calls are in the ledger.
bool is_taken(behaviour what);
/// Whether it is taken and the caller does not learn so.
bool is_unanswered(behaviour what);

/// What the address asks for. An address of another domain, or a local part that is no name, asks
/// for nothing special.
behaviour behaviour_of(std::string_view address);
/// Of several addresses the first that asks for something decides.
behaviour behaviour_of(const std::vector<std::string>& addresses);

/// `rcpt-450@simulator.paceline.test`: the code that `stage` (rcpt, data) is to be answered with.
std::optional<int> code_asked(std::string_view address, std::string_view stage);

} // namespace paceline::simulators
