#include "transport/providers/smtp_answers.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace paceline {
namespace {

constexpr std::size_t max_provider_id = 200;

std::string_view asked_for(smtp_stage stage) {
  switch (stage) {
  case smtp_stage::login:
    return "before any message";
  case smtp_stage::sender:
    return "to MAIL FROM";
  case smtp_stage::recipient:
    return "to RCPT TO";
  case smtp_stage::data:
    return "to DATA";
  case smtp_stage::end:
    return "to the message";
  }
  return {};
}

/// Too much in too short a time, as far as codes tell: 421 closes the connection; X.7.z are
/// policies (greylisting, rate); X.3.2 does not take messages now; X.4.5 is congestion (RFC 3463).
bool is_for_the_rate(const smtp_reply& reply) {
  return reply.code == 421 || reply.enhanced.starts_with("4.7.") || reply.enhanced == "4.3.2"
         || reply.enhanced == "4.4.5";
}

/// RFC 4954, section 6: who we are was not told, not believed, or not protected enough.
bool is_for_the_login(smtp_stage stage, const smtp_reply& reply) {
  constexpr std::array codes{530, 534, 535, 538};
  return stage == smtp_stage::login
         || std::find(codes.begin(), codes.end(), reply.code) != codes.end();
}

/// A sender that the server does not take is none for any message of the stream. Not so 552, which
/// is about this message's size, and syntax (50z).
bool is_for_the_sender(smtp_stage stage, const smtp_reply& reply) {
  return stage == smtp_stage::sender && (reply.code == 550 || reply.code == 553);
}

provider_answer make(outcome_kind kind, refusal refused, reason_code reason) {
  provider_answer answer;
  answer.kind = kind;
  answer.refused = refused;
  answer.reason = reason;
  return answer;
}

provider_answer permanent(smtp_stage stage, const smtp_reply& reply) {
  if (is_for_the_login(stage, reply))
    return make(outcome_kind::throttled, refusal::sending_paused,
                reason_code::provider_sending_paused);
  if (reply.enhanced == "5.4.5")
    return make(outcome_kind::throttled, refusal::daily_quota, reason_code::provider_daily_quota);
  if (is_for_the_sender(stage, reply))
    return make(outcome_kind::rejected, refusal::stream, reason_code::stream_refused);
  return make(outcome_kind::rejected, refusal::this_message, reason_code::provider_rejected);
}

} // namespace

provider_answer answer_for_refusal(smtp_stage stage, const smtp_reply& reply) {
  auto answer =
      reply.code >= 500 ? permanent(stage, reply)
      : is_for_the_rate(reply)
          ? make(outcome_kind::throttled, refusal::rate, reason_code::provider_throttled)
          : make(outcome_kind::throttled, refusal::none, reason_code::provider_unavailable);
  answer.diagnostic = reply.line() + " (" + std::string{asked_for(stage)} + ')';
  return answer;
}

provider_answer answer_for_acceptance(const smtp_reply& reply, const std::string& our_id) {
  provider_answer answer;
  answer.kind = outcome_kind::accepted;
  answer.provider_id = (reply.text.empty() ? our_id : reply.text).substr(0, max_provider_id);
  return answer;
}

provider_answer answer_for_loss(smtp_stage stage, bool timed_out, std::string diagnostic) {
  auto answer =
      stage != smtp_stage::end
          ? make(outcome_kind::not_started, refusal::none, reason_code::provider_unreachable)
          : make(outcome_kind::unknown, refusal::none,
                 timed_out ? reason_code::provider_timeout : reason_code::provider_connection_lost);
  answer.diagnostic = std::move(diagnostic);
  return answer;
}

} // namespace paceline
