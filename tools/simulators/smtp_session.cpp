#include "tools/simulators/smtp_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <strings.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <openssl/evp.h>

namespace paceline::simulators {
namespace {

namespace asio = boost::asio;

constexpr std::size_t most_recipients = 100;
constexpr int slow_factor = 10;
/// As SES words them.
constexpr std::string_view rate_text =
    "454 4.7.0 Throttling failure: Maximum sending rate exceeded.";
constexpr std::string_view daily_text =
    "454 4.7.0 Throttling failure: Daily message quota exceeded.";

bool starts(std::string_view line, std::string_view verb) {
  return line.size() >= verb.size() && ::strncasecmp(line.data(), verb.data(), verb.size()) == 0;
}

/// The address of `MAIL FROM:<a@example.com> SIZE=7`.
std::string address_in(const std::string& line) {
  const auto open = line.find('<'), close = line.find('>');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return "";
  return line.substr(open + 1, close - open - 1);
}

/// Empty where it is none.
std::string base64_decoded(std::string_view text) {
  if (text.size() % 4 != 0)
    return "";
  std::string octets(text.size() / 4 * 3, '\0');
  const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(octets.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (size < 0)
    return "";
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  octets.resize(static_cast<std::size_t>(size) - padding);
  return octets;
}

/// Of recipients at RCPT; empty where it is welcome.
std::string recipient_refusal(simulation& with, const std::string& address) {
  if (const auto code = code_asked(address, "rcpt"))
    return std::to_string(*code) + (*code < 500 ? " 4.7.1" : " 5.1.1") + " Refused as asked";
  switch (behaviour_of(address)) {
  case behaviour::throttle:
    return "450 4.7.1 Try again later";
  case behaviour::once_throttle:
    return with.is_first_time(address) ? "450 4.7.1 Greylisted, try again later" : "";
  case behaviour::reject:
  case behaviour::bad_request:
    return "550 5.1.1 No such mailbox";
  case behaviour::unverified:
    return "554 5.7.1 Sender not verified";
  default:
    return "";
  }
}

/// Of the message after the final dot; empty where it is welcome.
std::string message_refusal(const std::vector<std::string>& recipients) {
  for (const auto& one : recipients)
    if (const auto code = code_asked(one, "data"))
      return std::to_string(*code) + (*code < 500 ? " 4.3.0" : " 5.6.0") + " Refused as asked";
  return "";
}

} // namespace

asio::awaitable<void> smtp_session::run() {
  bool is_fine = true;
  if (options_.tls_at_once)
    is_fine = co_await stream_.start_tls(tls_);
  if (is_fine)
    is_fine = co_await greet();
  if (!is_fine)
    co_return;
  for (bool goes_on = true; goes_on;) {
    auto line = co_await stream_.read_line();
    goes_on = line.has_value();
    if (goes_on)
      goes_on = co_await obey(*line);
  }
}

bool smtp_session::may_send() const {
  const bool is_private = stream_.is_encrypted() || !options_.starttls;
  return is_private && (is_known_ || options_.user.empty());
}

smtp_session::done smtp_session::say(std::string_view text) {
  const std::string line = std::string{text} + "\r\n";
  const bool written = co_await stream_.write(line);
  co_return written;
}

smtp_session::done smtp_session::answer_slowly(std::string_view text, nanoseconds delay) {
  boost::system::error_code error;
  timer_.expires_after(delay);
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
  co_return co_await say(text);
}

smtp_session::done smtp_session::greet() {
  const auto fault = with_.draw_fault(call_kind::account, false);
  if (fault == behaviour::slow_banner)
    co_return co_await answer_slowly("220 simulator.paceline.test ESMTP", with_.hang());
  if (fault == behaviour::closing) {
    co_await say("421 4.7.0 Too many connections, try again later");
    co_return false;
  }
  co_return co_await say("220 simulator.paceline.test ESMTP");
}

smtp_session::done smtp_session::obey(const std::string& line) {
  if (!options_.pipelining && stream_.has_more()) {
    with_.count("early_commands");
    co_await say("503 5.5.1 PIPELINING was not offered");
    co_return false;
  }
  if (starts(line, "EHLO") || starts(line, "HELO"))
    co_return co_await hello(starts(line, "EHLO"));
  if (starts(line, "STARTTLS"))
    co_return co_await start_tls();
  if (starts(line, "AUTH "))
    co_return co_await authenticate(std::string_view{line}.substr(5));
  if (starts(line, "MAIL FROM:"))
    co_return co_await mail(line);
  if (starts(line, "RCPT TO:"))
    co_return co_await recipient(line);
  if (starts(line, "DATA"))
    co_return co_await data();
  if (starts(line, "RSET")) {
    recipients_.clear();
    has_sender_ = false;
    co_return co_await say("250 2.0.0 Reset");
  }
  if (starts(line, "NOOP"))
    co_return co_await say("250 2.0.0 Still here");
  if (starts(line, "QUIT")) {
    co_await say("221 2.0.0 Bye");
    co_return false;
  }
  co_return co_await say("502 5.5.2 Command not known");
}

smtp_session::done smtp_session::hello(bool is_extended) {
  if (!is_extended)
    co_return co_await say("250 simulator.paceline.test");
  std::string text = "250-simulator.paceline.test\r\n";
  if (options_.starttls && !stream_.is_encrypted())
    text += "250-STARTTLS\r\n";
  else if (!options_.user.empty())
    text += "250-AUTH PLAIN LOGIN\r\n";
  if (options_.pipelining)
    text += "250-PIPELINING\r\n";
  text += "250-SIZE " + std::to_string(options_.longest_message) + "\r\n250-8BITMIME\r\n";
  text += "250 ENHANCEDSTATUSCODES";
  co_return co_await say(text);
}

smtp_session::done smtp_session::start_tls() {
  if (!options_.starttls || stream_.is_encrypted())
    co_return co_await say("503 5.5.1 Not now");
  const bool told = co_await say("220 2.0.0 Go ahead");
  if (!told)
    co_return false;
  const bool encrypted = co_await stream_.start_tls(tls_);
  co_return encrypted;
}

smtp_session::done smtp_session::authenticate(std::string_view arguments) {
  if (options_.user.empty() || (options_.starttls && !stream_.is_encrypted()))
    co_return co_await say("503 5.5.1 Not now");
  std::array<std::string, 2> given; // LOGIN: user and password; PLAIN: all in the first
  const bool is_plain = starts(arguments, "PLAIN");
  if (!is_plain && !starts(arguments, "LOGIN"))
    co_return co_await say("504 5.5.4 PLAIN or LOGIN");
  const std::size_t steps = is_plain ? 1 : 2;
  std::size_t step = 0;
  if (arguments.size() > 6) // an initial response
    given[step++] = base64_decoded(arguments.substr(6));
  for (; step < steps; ++step) {
    const bool asked = co_await say(is_plain    ? "334 "
                                    : step == 0 ? "334 VXNlcm5hbWU6"
                                                : "334 UGFzc3dvcmQ6");
    if (!asked)
      co_return false;
    const auto line = co_await stream_.read_line();
    if (!line)
      co_return false;
    given[step] = base64_decoded(*line);
  }
  const std::string plain = std::string{'\0'} + options_.user + '\0' + options_.password;
  is_known_ = is_plain ? given[0].ends_with(plain)
                       : given[0] == options_.user && given[1] == options_.password;
  if (!is_known_ || with_.draw_fault(call_kind::account, true) == behaviour::auth_failed) {
    with_.count("auth_failures");
    is_known_ = false;
    co_return co_await say("535 5.7.8 Authentication credentials invalid");
  }
  co_return co_await say("235 2.7.0 Welcome");
}

smtp_session::done smtp_session::mail(const std::string& line) {
  with_.count("sends");
  if (!may_send())
    co_return co_await say(options_.starttls && !stream_.is_encrypted()
                               ? "530 5.7.0 Must issue a STARTTLS command first"
                               : "530 5.7.0 Authentication required");
  if (with_.fault().what == behaviour::closing
      && with_.draw_fault(call_kind::send, is_reused_) == behaviour::closing) {
    co_await say("421 4.3.2 Closing");
    co_return false;
  }
  const auto size_at = line.find(" SIZE=");
  const bool is_too_large =
      size_at != std::string::npos
      && std::strtoull(line.c_str() + size_at + 6, nullptr, 10) > options_.longest_message;
  if (is_too_large)
    co_return co_await say("552 5.3.4 Message too large");
  recipients_.clear();
  has_sender_ = true;
  co_return co_await say("250 2.1.0 Sender OK");
}

smtp_session::done smtp_session::recipient(const std::string& line) {
  const auto address = address_in(line);
  if (!has_sender_)
    co_return co_await say("503 5.5.1 MAIL first");
  if (address.find('@') == std::string::npos)
    co_return co_await say("501 5.1.3 Bad address");
  if (recipients_.size() >= most_recipients)
    co_return co_await say("452 4.5.3 Too many recipients");
  auto refusal = recipient_refusal(with_, address);
  if (!refusal.empty()) {
    with_.count("refused_recipients");
    co_return co_await say(refusal);
  }
  recipients_.push_back(address);
  co_return co_await say("250 2.1.5 Recipient OK");
}

smtp_session::done smtp_session::data() {
  if (recipients_.empty())
    co_return co_await say("503 5.5.1 RCPT first");
  const bool told = co_await say("354 End data with <CR><LF>.<CR><LF>");
  if (!told)
    co_return false;
  const auto raw = co_await stream_.read_message(options_.longest_message);
  if (!raw)
    co_return false;
  co_return co_await finish(*raw);
}

smtp_session::done smtp_session::finish(const std::string& raw) {
  auto how = with_.fault().what == behaviour::closing
                 ? behaviour::success
                 : with_.draw_fault(call_kind::send, std::exchange(is_reused_, true));
  if (how == behaviour::success)
    how = behaviour_of(recipients_);
  has_sender_ = false;
  const auto recipients = std::exchange(recipients_, {});
  const auto delay = with_.draw_latency() * (how == behaviour::slow ? slow_factor : 1);
  if (how == behaviour::close_before_read)
    co_return false; // before the final dot, for all that the client can know
  if (const auto refusal = message_refusal(recipients); !refusal.empty())
    co_return co_await answer_slowly(refusal, delay);
  if (how == behaviour::throttle || how == behaviour::daily_quota || how == behaviour::unavailable)
    co_return co_await answer_slowly("451 4.7.0 Try again later", delay);
  if (how == behaviour::paused || how == behaviour::suspended || how == behaviour::reject)
    co_return co_await answer_slowly("554 5.7.1 Refused", delay);
  const auto now = std::chrono::steady_clock::now();
  const auto quota = with_.take_quota(static_cast<std::int64_t>(recipients.size()), now);
  if (quota != refusal::none) {
    with_.count(quota == refusal::rate ? "throttled" : "daily_refused");
    co_return co_await answer_slowly(quota == refusal::rate ? rate_text : daily_text, delay);
  }
  const auto who = tags_of_mail(raw);
  if (!with_.accept(who, raw, recipients.size(), is_unanswered(how)))
    co_return co_await answer_slowly("451 4.3.0 The ledger can't be written", delay);
  if (how == behaviour::timeout) {
    co_await stream_.wait_for_end();
    co_return false;
  }
  if (how == behaviour::hang)
    co_return co_await answer_slowly("250 2.0.0 Ok, at last", with_.hang());
  if (is_unanswered(how)) // whatever it is called: the end after the dot
    co_return false;
  const std::string welcome = "250 2.0.0 Ok " + std::to_string(who.message);
  co_return co_await answer_slowly(welcome, delay);
}

} // namespace paceline::simulators
