#include "transport/http/connection.hpp"

#include <utility>

#include "transport/http/problem.hpp"

namespace paceline {
namespace {

/// After an answer that ends the connection, how long the client's bytes are still read and
/// dropped: closing at once would reset the connection, and the answer could get lost.
constexpr std::chrono::milliseconds linger_time{1000};

/// One connection's reads in a row before others come in.
constexpr int most_rounds = 32;

} // namespace

connection::connection(std::unique_ptr<channel> peer, std::string address,
                       const listener_options& options, body_budget& budget, boot_instant now)
    : peer_(std::move(peer)), address_(std::move(address)),
      options_(options), bounds_{options.max_header_bytes, options.max_headers, options.max_body},
      scanner_(bounds_), body_(budget, options.max_body) {
  if (options.tls_certificate.empty())
    become_idle(now);
  else
    enter(phase::handshake, now, options_.header_timeout);
}

void connection::enter(phase next, boot_instant now, std::chrono::milliseconds limit) {
  phase_ = next;
  deadline_ = now + limit;
}

void connection::become_idle(boot_instant now) {
  scanner_ = head_scanner(bounds_);
  head_ = {};
  body_.clear();
  output_ = {};
  if (input_.empty())
    input_ = {}; // An idle connection holds no buffer.
  enter(phase::idle, now, options_.idle_timeout);
}

connection::need connection::need_for(progress state) const {
  switch (state) {
  case progress::wants_read:
  case progress::made:
    return need::reading;
  case progress::wants_write:
    return need::writing;
  case progress::ended:
    return need::closing;
  }
  return need::closing;
}

connection::need connection::proceed(boot_instant now, std::span<char> buffer) {
  rounds_ = 0;
  std::optional<need> waits;
  while (!waits) {
    switch (phase_) {
    case phase::handshake:
      waits = shake_hands(now);
      break;
    case phase::idle:
    case phase::head:
    case phase::body:
      waits = read_on(now, buffer);
      break;
    case phase::ready:
      waits = need::answer;
      break;
    case phase::writing:
      waits = write_on(now);
      break;
    case phase::lingering:
      waits = linger(buffer);
      break;
    }
  }
  return *waits;
}

std::optional<connection::need> connection::shake_hands(boot_instant now) {
  auto state = peer_->handshake();
  if (state != progress::made)
    return need_for(state);
  become_idle(now);
  return {};
}

std::optional<connection::need> connection::read_on(boot_instant now, std::span<char> buffer) {
  take_input(now);
  if (phase_ == phase::ready)
    return {};
  if (++rounds_ > most_rounds)
    return need::reading;
  auto [state, count] = peer_->read(buffer);
  if (state != progress::made)
    return need_for(state);
  std::string_view bytes(buffer.data(), count);
  if (phase_ == phase::body && input_.empty())
    take_body(bytes);
  input_ += bytes;
  return {};
}

void connection::take_input(boot_instant now) {
  if (phase_ == phase::idle && !input_.empty())
    enter(phase::head, now, options_.header_timeout);
  if (phase_ == phase::head)
    take_head(now);
  if (phase_ != phase::body)
    return;
  std::string_view bytes = input_;
  take_body(bytes);
  input_.erase(0, input_.size() - bytes.size());
}

void connection::take_head(boot_instant now) {
  std::size_t length = 0;
  if (auto wrong = scanner_.scan(input_, length))
    return refuse(std::move(*wrong));
  if (length == 0)
    return;
  if (auto wrong = parse_head(std::string_view(input_).substr(0, length), bounds_, head_))
    return refuse(std::move(*wrong));
  input_.erase(0, length);
  reader_ = body_reader(head_.chunked, head_.length);
  enter(phase::body, now, options_.body_timeout);
  if (!head_.expects_continue || !head_.has_body() || !input_.empty())
    return;
  // Who doesn't take these few bytes in one piece doesn't read, and gets no body through.
  constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  if (auto [state, count] = peer_->write(go_on); count != go_on.size())
    refuse(problem(400, "malformed_request", "The connection does not take answers."));
}

void connection::take_body(std::string_view& bytes) {
  if (auto wrong = reader_.feed(bytes, body_))
    return refuse(std::move(*wrong));
  if (reader_.is_complete())
    phase_ = phase::ready;
}

void connection::refuse(http_response why) {
  refusal_ = std::move(why);
  body_.clear();
  input_.clear();
  phase_ = phase::ready;
}

connection::need connection::expire() {
  if (phase_ != phase::head && phase_ != phase::body)
    return need::closing;
  refuse(problem(408, "request_timeout", "The request did not arrive in time."));
  return need::answer;
}

void connection::send(std::string answer, bool closes, boot_instant now) {
  body_.clear();
  output_ = std::move(answer);
  written_ = 0;
  closes_ = closes;
  enter(phase::writing, now, options_.write_timeout);
}

std::optional<connection::need> connection::write_on(boot_instant now) {
  while (written_ < output_.size()) {
    auto [state, count] = peer_->write(std::string_view(output_).substr(written_));
    if (state != progress::made)
      return need_for(state);
    written_ += count;
  }
  if (!closes_) {
    become_idle(now);
    return {};
  }
  output_ = {};
  peer_->end_writing();
  enter(phase::lingering, now, linger_time);
  return {};
}

std::optional<connection::need> connection::linger(std::span<char> buffer) {
  if (++rounds_ > most_rounds)
    return need::reading;
  auto [state, count] = peer_->read(buffer);
  if (state != progress::made)
    return state == progress::ended ? need::closing : need::reading;
  return {};
}

} // namespace paceline
