#include "transport/active_call.hpp"

#include <utility>

namespace paceline {
namespace {

constexpr std::size_t max_diagnostic = 1000;

} // namespace

bool active_call::may_write() {
  if (asked_)
    return false;
  asked_ = true;
  auto now = permit_.now();
  if (!refusal_)
    refusal_ = permit_.refusal(order_, now);
  if (refusal_)
    return false;
  written_ = true;
  started_at_ = order_.slot + (now - order_.at);
  permit_.wrote(*this, now - order_.at);
  return true;
}

bool active_call::is_refused() const {
  return asked_ || refusal_ || permit_.refusal(order_, permit_.now()).has_value();
}

void active_call::refuse(reason_code reason) {
  if (!written_ && !refusal_)
    refusal_ = reason;
}

outcome active_call::outcome_of(provider_answer answer) const {
  outcome result;
  result.of = order_.message->of;
  result.kind = answer.kind;
  result.refused = answer.refused;
  result.reason = answer.reason;
  // Nobody can pause one kind of direct mail: whoever sent it must hear of it.
  if (answer.refused == refusal::stream && !message().is_campaign) {
    result.kind = outcome_kind::rejected;
    result.refused = refusal::this_message;
  }
  if (answer.kind == outcome_kind::not_started && refusal_)
    result.reason = *refusal_;
  result.provider_id = std::move(answer.provider_id);
  result.diagnostic = std::move(answer.diagnostic);
  if (result.diagnostic.size() > max_diagnostic)
    result.diagnostic.resize(max_diagnostic);
  if (written_)
    result.started_at = started_at_;
  result.retry_after = answer.retry_after;
  return result;
}

} // namespace paceline
