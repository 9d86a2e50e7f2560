/// Mail by SMTP (RFC 5321) to one server: a pool of connections, each carrying one message at a
/// time.
///
/// libcurl makes the connections (name look-up, TLS, EHLO, STARTTLS, AUTH) and carries the octets;
/// the transactions are ours, because libcurl's own wait for the answer after the final dot and for
/// the answer to QUIT while everything else on the thread stands still (docs/decisions/0020).
///
/// A call that finds no free connection waits until one is; by then `may_write` mostly says that
/// its slot is gone, and the connection serves the next one. A spare connection is kept open so
/// that this happens at the beginning only.
///
/// What an answer means:
/// - Everything lost before the end of the message was written is not taken: `not_started`.
/// - Lost after that: `unknown`.
/// - 4yz: `throttled`. With 421, 4.7.z, 4.3.2 or 4.4.5 it was too fast (refusal::rate), otherwise
///   this message later (PROVIDER_UNAVAILABLE).
/// - 5yz: `rejected`. A refused sender (MAIL FROM) is the stream's fault, all else this message's.
///   One refused recipient refuses the message: nobody gets it. 5.4.5 is the daily quota.
/// - 530, 534, 535, 538, no STARTTLS, a certificate that proves nothing: refusal::sending_paused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/providers/provider.hpp"

namespace paceline {

struct smtp_options {
  enum class protection {
    starttls, ///< refused where the server does not offer it
    tls,      ///< from the first octet
    none,     ///< for servers on this machine
  };
  std::string host; ///< a name or a numeric address, without brackets
  int port = 587;
  protection security = protection::starttls;
  std::string username, password; ///< both empty: no AUTH
  std::string ca_file;            ///< PEM; empty: the system's authorities
  bool allow_private = false;     ///< see `is_public_address`
  std::string greeting;           ///< our name in EHLO; empty: the host's name
  rate quota;                     ///< recipients per second; what `ask_quota` answers
  std::int32_t max_connections = 10;
  std::int32_t warm_connections = 0;                     ///< opened at once
  nanoseconds connect_timeout = std::chrono::seconds{5}; ///< until EHLO and AUTH are answered
  nanoseconds total_timeout = std::chrono::seconds{30};  ///< one message on its connection
  nanoseconds idle_timeout = std::chrono::seconds{50};   ///< idle connections end after it
  std::int32_t messages_per_connection = 100; ///< then a new one: servers close them after some
};

/// Throws std::runtime_error where `ca_file` can't be read: call it before anything else starts.
/// `loop` outlives the provider.
std::unique_ptr<provider> make_smtp_provider(reactor& loop, smtp_options options);

} // namespace paceline
