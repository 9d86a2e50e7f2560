/// The port to a provider: asynchronous, driven by the courier's thread.
///
/// A provider starts calls when the courier tells it to, asks `call::may_write` just before the
/// first request byte, and reports each call exactly once. It owns its connections and registers
/// their descriptors and timers with the reactor. Everything here runs on the courier's thread;
/// nothing may block. `simulated.hpp` and, later, the real ones.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/contents.hpp"
#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"
#include "storage/model/outcome.hpp"
#include "storage/model/route_reading.hpp"
#include "storage/result.hpp"

namespace paceline {

/// What the courier's thread offers to whoever lives on it. Not thread-safe.
class reactor {
public:
  virtual ~reactor() = default;
  virtual boot_instant now() const = 0;
  /// Calls `task` once, at `when` or soon after. Can't be taken back: tasks check whether they
  /// still matter.
  virtual void at(boot_instant when, std::function<void()> task) = 0;
  /// Calls `ready(epoll events)` while `descriptor` is registered; events = 0 removes it.
  virtual void watch(int descriptor, std::uint32_t events,
                     std::function<void(std::uint32_t)> ready) = 0;
};

/// How a provider wants its messages built.
enum class mail_form {
  parts, ///< subject, bodies and headers apart: it makes the message itself
  raw,   ///< the whole message as RFC 5322 has it
};

/// A message ready to be handed over. Immutable once built; shared between the shard's actor and
/// the courier.
struct outgoing_message {
  attempt of;
  std::string sender;                  ///< mailbox
  std::vector<std::string> recipients; ///< normalised addresses, 1 to 50: the envelope
  std::vector<std::pair<std::string, std::string>> tags; ///< the sender's own
  bool is_campaign = false; ///< a refusal of what a campaign shares pauses it; direct mail of that
                            ///< kind is rejected

  /// Form `parts`. The mailboxes of to and cc as given are for the header only.
  std::string subject, text_body, html_body;
  std::vector<std::string> to, cc;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<const std::vector<attachment>> attachments; ///< none: null

  /// Form `raw`: the message is `raw` and then `raw_tail`, which all messages of a content share
  /// (attachments). 7-bit octets, lines end in CRLF and have at most 998 octets.
  std::string raw;
  std::shared_ptr<const std::string> raw_tail; ///< none: null

  std::size_t raw_size() const { return raw.size() + (raw_tail ? raw_tail->size() : 0); }
};

/// The provider's answer to one call, without what only the courier knows.
struct provider_answer {
  outcome_kind kind = outcome_kind::unknown;
  refusal refused = refusal::none;
  reason_code reason = reason_code::none;
  std::string provider_id;
  std::string diagnostic;
  std::optional<nanoseconds> retry_after;
};

/// For a call that would have to wait for a connection: its slot would be gone by then. It gets
/// another one while more connections are opened.
provider_answer no_free_connection();

/// One call for one message. Owned by the courier; stays valid until it was answered.
class call {
public:
  virtual ~call() = default;
  virtual const outgoing_message& message() const = 0;
  /// Asked once, right before the first request byte. True: the message now counts as "maybe
  /// written" and the start time is stamped. False (ownership deadline, cancel, brake): write
  /// nothing and answer `not_started`. A second question for the same call is a silent repeat by a
  /// library and is always false; then answer `unknown`.
  virtual bool may_write() = 0;
  /// Whether `may_write` would say no. Changes nothing: for requests that carry several calls.
  virtual bool is_refused() const = 0;
  /// The slot on the database's clock. Calls with the same slot go in one request, where the
  /// provider takes several.
  virtual database_instant slot() const = 0;
  /// When the call started on the database's clock, for ledgers; set by `may_write`.
  virtual database_instant started_at() const = 0;
};

class provider {
public:
  virtual ~provider() = default;
  using answer_function = std::function<void(provider_answer)>;
  using quota_function = std::function<void(const result<quota_reading>&)>;
  /// Starts the call; `answered` is called exactly once, from the reactor or from within `start`.
  virtual void start(call& what, answer_function answered) = 0;
  /// All calls of the slots that have come were started: requests that carry several can go.
  virtual void flush() {}
  /// Asks for the account's quota. Error `unavailable`: the provider did not say, and why (ask
  /// again later).
  virtual void ask_quota(quota_function answered) = 0;
  /// Whether the provider would take messages again, found out without sending one. By default:
  /// whether it tells its quota.
  virtual void ask_health(std::function<void(bool)> answered);
};

} // namespace paceline
