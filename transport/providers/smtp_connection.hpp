/// One connection and the message that is on it: MAIL, RCPT, DATA, text, final dot, answer.
///
/// A message's call is answered exactly once, as early as its fate is known; where the server
/// refused, the connection resets itself and is free again after that. On the reactor's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/providers/provider.hpp"
#include "transport/providers/smtp_answers.hpp"
#include "transport/providers/smtp_dialer.hpp"

namespace paceline {

class smtp_connection {
public:
  class owner {
  public:
    virtual ~owner() = default;
    /// It can carry something again.
    virtual void freed(smtp_connection& which) = 0;
    /// It is over. It must not be destroyed before the call has returned.
    virtual void ended(smtp_connection& which) = 0;
  };

  /// `loop` and `of` outlive it.
  smtp_connection(reactor& loop, std::unique_ptr<smtp_link> link, owner& of);
  /// What is on it gets no answer.
  ~smtp_connection();
  smtp_connection(const smtp_connection&) = delete;
  smtp_connection& operator=(const smtp_connection&) = delete;

  bool is_idle() const { return now_ == stage::idle; }
  boot_instant since() const { return since_; } ///< when it became idle or busy
  std::int32_t carried() const { return carried_; }

  /// Only while idle. False: the message may not or can't be sent; it was answered, and the
  /// connection is still idle.
  bool carry(call& what, provider::answer_function answered);
  /// Only while idle. Whether the server answers NOOP.
  void probe(std::function<void(bool)> answered);
  /// Ends it; whatever is on it took too long.
  void give_up();
  /// Only while idle: ends it with a QUIT whose answer nobody waits for.
  void quit();

private:
  enum class stage { idle, envelope, data, text, end, reset, probe, over };

  void begin(stage next);
  void write_commands();
  void ready();
  void write();
  bool refill();
  void watch();
  void take(const smtp_reply& reply);
  void take_in_envelope(const smtp_reply& reply);
  void take_at_end(const smtp_reply& reply);
  void refuse(smtp_stage where, const smtp_reply& reply);
  void answer(provider_answer with);
  void become_idle();
  void lose(bool timed_out, const std::string& why);
  void close();

  reactor& loop_;
  std::unique_ptr<smtp_link> link_;
  owner& owner_;
  smtp_reply_reader replies_;
  std::string input_;
  std::string output_; ///< must not move while a part of it waits
  std::string_view unsent_;
  std::uint32_t watched_ = 0;
  stage now_ = stage::idle;
  boot_instant since_;
  bool became_idle_ = false; ///< and the owner does not know it yet
  std::int32_t carried_ = 0;

  call* call_ = nullptr;
  provider::answer_function answered_;
  std::function<void(bool)> probed_;
  std::vector<std::string> commands_; ///< of the envelope
  std::size_t written_ = 0, replied_ = 0;
  std::optional<std::pair<smtp_stage, smtp_reply>> refused_;
  std::optional<smtp_text> text_;
};

} // namespace paceline
