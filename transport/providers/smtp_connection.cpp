#include "transport/providers/smtp_connection.hpp"

#include <sys/epoll.h>

#include <utility>

namespace paceline {
namespace {

constexpr std::size_t piece = 64 << 10;  ///< octets of text made at a time
constexpr int pieces_per_turn = 4;       ///< then other work gets its turn
constexpr int receives_per_turn = 16;    ///< 256 KiB of replies: a flood
constexpr int service_unavailable = 421; ///< the server closes after it
constexpr int go_ahead = 354;

} // namespace

smtp_connection::smtp_connection(reactor& loop, std::unique_ptr<smtp_link> link, owner& of)
    : loop_(loop), link_(std::move(link)), owner_(of), since_(loop.now()) {
  watch();
}

smtp_connection::~smtp_connection() {
  if (watched_ != 0)
    loop_.watch(link_->socket(), 0, {});
}

bool smtp_connection::carry(call& what, provider::answer_function answered) {
  auto commands = envelope_of(what.message(), link_->offered());
  if (!commands) {
    provider_answer bad;
    bad.kind = outcome_kind::rejected;
    bad.refused = refusal::this_message;
    bad.reason = reason_code::invalid_recipient;
    bad.diagnostic = "an address of the envelope can't be written in an SMTP command";
    answered(std::move(bad));
    return false;
  }
  if (!what.may_write()) {
    provider_answer late;
    late.kind = outcome_kind::not_started;
    late.reason = reason_code::slot_missed;
    answered(std::move(late));
    return false;
  }
  ++carried_;
  call_ = &what;
  answered_ = std::move(answered);
  commands_ = std::move(*commands);
  written_ = replied_ = 0;
  refused_.reset();
  begin(stage::envelope);
  write_commands();
  write();
  return true;
}

void smtp_connection::probe(std::function<void(bool)> answered) {
  probed_ = std::move(answered);
  begin(stage::probe);
  output_ = "NOOP\r\n";
  unsent_ = output_;
  write();
}

void smtp_connection::give_up() {
  lose(true, "no answer in time");
}

void smtp_connection::quit() {
  std::string_view bye = "QUIT\r\n";
  link_->send(bye);
  close();
}

void smtp_connection::begin(stage next) {
  now_ = next;
  since_ = loop_.now();
}

/// All at once where the server takes them so, otherwise the next.
void smtp_connection::write_commands() {
  output_.clear();
  do {
    output_ += commands_[written_++];
  } while (link_->offered().pipelining && written_ < commands_.size());
  unsent_ = output_;
}

void smtp_connection::ready() {
  auto state = smtp_link::state::fine;
  for (int turn = 0; state == smtp_link::state::fine; ++turn) {
    input_.clear();
    state = link_->receive(input_);
    replies_.feed(input_);
    while (auto reply = replies_.next()) {
      take(*reply);
      if (now_ == stage::over)
        return;
    }
    if (replies_.is_broken() || turn == receives_per_turn)
      return lose(false, "the server's replies are no SMTP");
  }
  if (state == smtp_link::state::lost)
    return lose(false, "the server closed the connection");
  // Only now: a reply that nobody asked for must not count for the next message.
  if (std::exchange(became_idle_, false))
    owner_.freed(*this);
  if (now_ != stage::over)
    write();
}

/// Writes as much as the socket takes and watches for the rest.
void smtp_connection::write() {
  for (int turn = 0; turn < pieces_per_turn && (!unsent_.empty() || refill()); ++turn) {
    auto state = smtp_link::state::fine;
    while (!unsent_.empty() && state == smtp_link::state::fine)
      state = link_->send(unsent_);
    if (state == smtp_link::state::lost)
      return lose(false, "the connection broke");
    if (state == smtp_link::state::blocked)
      break;
  }
  watch();
}

bool smtp_connection::refill() {
  if (now_ != stage::text)
    return false;
  output_.clear();
  text_->read(output_, piece);
  unsent_ = output_;
  // From the first octet of the piece with the final dot on, the server may have all of it.
  if (text_->is_over())
    now_ = stage::end;
  return true;
}

void smtp_connection::watch() {
  const bool has_more = !unsent_.empty() || now_ == stage::text;
  const auto events = std::uint32_t{EPOLLIN} | (has_more ? std::uint32_t{EPOLLOUT} : 0);
  if (events == watched_)
    return;
  watched_ = events;
  loop_.watch(link_->socket(), events, [this](std::uint32_t) { ready(); });
}

void smtp_connection::take(const smtp_reply& reply) {
  switch (now_) {
  case stage::idle: // 421: it has waited long enough
    return close();
  case stage::envelope:
    return take_in_envelope(reply);
  case stage::data:
    if (reply.code != go_ahead)
      return refuse(smtp_stage::data, reply);
    text_.emplace(call_->message());
    now_ = stage::text;
    return;
  case stage::text: // it has seen enough
    refuse(smtp_stage::data, reply);
    if (now_ != stage::over)
      close();
    return;
  case stage::end:
    return take_at_end(reply);
  case stage::reset:
    return reply.is_positive() ? become_idle() : close();
  case stage::probe:
    std::exchange(probed_, {})(reply.is_positive());
    return reply.is_positive() ? become_idle() : close();
  case stage::over:
    return;
  }
}

void smtp_connection::take_in_envelope(const smtp_reply& reply) {
  const auto where = replied_++ == 0 ? smtp_stage::sender : smtp_stage::recipient;
  if (!reply.is_positive() && !refused_)
    refused_.emplace(where, reply);
  if (reply.code == service_unavailable)
    return refuse(refused_->first, refused_->second);
  if (replied_ < written_)
    return;
  if (refused_)
    return refuse(refused_->first, refused_->second);
  if (written_ < commands_.size())
    return write_commands();
  now_ = stage::data;
  output_ = "DATA\r\n";
  unsent_ = output_;
}

void smtp_connection::take_at_end(const smtp_reply& reply) {
  if (!reply.is_positive()) {
    answer(answer_for_refusal(smtp_stage::end, reply));
    return reply.code == service_unavailable ? close() : become_idle();
  }
  if (!unsent_.empty() || reply.code >= 300)
    return lose(false, "an answer that nobody can read: " + reply.line());
  answer(answer_for_acceptance(reply, message_id_of(call_->message().raw)));
  become_idle();
}

/// Nothing of the message was taken; the connection becomes free by RSET.
void smtp_connection::refuse(smtp_stage where, const smtp_reply& reply) {
  if (reply.is_positive())
    return lose(false, "an answer that does not fit: " + reply.line());
  const bool was_text = now_ == stage::text;
  begin(stage::reset);
  answer(answer_for_refusal(where, reply));
  if (reply.code == service_unavailable || was_text)
    return close();
  output_ = "RSET\r\n";
  unsent_ = output_;
}

void smtp_connection::answer(provider_answer with) {
  auto answered = std::exchange(answered_, {});
  if (answered)
    answered(std::move(with));
}

void smtp_connection::become_idle() {
  call_ = nullptr;
  text_.reset();
  begin(stage::idle);
  became_idle_ = true;
}

void smtp_connection::lose(bool timed_out, const std::string& why) {
  const auto where = now_ == stage::end ? smtp_stage::end : smtp_stage::data;
  if (probed_)
    std::exchange(probed_, {})(false);
  answer(answer_for_loss(where, timed_out, why));
  close();
}

void smtp_connection::close() {
  if (now_ == stage::over)
    return;
  now_ = stage::over;
  if (watched_ != 0)
    loop_.watch(link_->socket(), 0, {});
  watched_ = 0;
  link_.reset();
  owner_.ended(*this);
}

} // namespace paceline
