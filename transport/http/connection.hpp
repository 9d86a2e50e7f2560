/// One client's connection as a state machine that never blocks: handshake, idle, head, body,
/// answer, and again. It waits in epoll without a thread wherever it waits for the client.
///
/// ```
/// handshake -> idle -> head -> body -> ready -> writing -> idle ...
///                        `------`-- refused ---^      `-> lingering -> closed
/// ```
/// Each phase has one deadline, set when it begins, so that a byte now and then buys no time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "storage/model/instants.hpp"
#include "transport/http/channel.hpp"
#include "transport/http/request_body.hpp"
#include "transport/http/request_head.hpp"
#include "transport/http/server.hpp"

namespace paceline {

/// Used by one thread at a time; `options` and `budget` outlive it.
class connection {
public:
  /// What it needs to get on: the socket readable or writable, an answer by `send`, or its end.
  enum class need { reading, writing, answer, closing };

  connection(std::unique_ptr<channel> peer, std::string address, const listener_options& options,
             body_budget& budget, boot_instant now);

  /// Gets on as far as possible. `buffer` is scratch space of at least 16 KiB.
  need proceed(boot_instant now, std::span<char> buffer);
  /// Ends what the deadline cut off. An answer (408) may be owed then (`need::answer`).
  need expire();

  /// While an answer is needed: what to say instead of serving the request; nothing for a request
  /// that is whole.
  std::optional<http_response> take_refusal() { return std::move(refusal_); }
  /// As far as it was read.
  request_head& head() { return head_; }
  stored_body& body() { return body_; }
  /// Queues the whole answer; `closes`: nothing follows it. Then `proceed`.
  void send(std::string answer, bool closes, boot_instant now);

  boot_instant deadline() const { return deadline_; }
  /// Not between requests.
  bool is_busy() const { return phase_ != phase::idle && phase_ != phase::lingering; }
  /// An answer is on its way.
  bool is_finishing() const { return phase_ == phase::writing || phase_ == phase::lingering; }
  const std::string& address() const { return address_; }
  int descriptor() const { return peer_->descriptor(); }

private:
  enum class phase { handshake, idle, head, body, ready, writing, lingering };

  void enter(phase next, boot_instant now, std::chrono::milliseconds limit);
  void become_idle(boot_instant now);
  need need_for(progress state) const;
  std::optional<need> shake_hands(boot_instant now);
  std::optional<need> read_on(boot_instant now, std::span<char> buffer);
  std::optional<need> write_on(boot_instant now);
  std::optional<need> linger(std::span<char> buffer);
  void take_input(boot_instant now);
  void take_head(boot_instant now);
  void take_body(std::string_view& bytes);
  void refuse(http_response why);

  const std::unique_ptr<channel> peer_;
  const std::string address_;
  const listener_options& options_;
  const head_bounds bounds_;

  phase phase_ = phase::handshake;
  boot_instant deadline_{};
  std::string input_; ///< read but not yet understood; at most a head and one read
  head_scanner scanner_;
  request_head head_;
  body_reader reader_{false, 0};
  stored_body body_;
  std::optional<http_response> refusal_;
  std::string output_;
  std::size_t written_ = 0;
  bool closes_ = false;
  int rounds_ = 0; ///< reads since the last wait
};

} // namespace paceline
