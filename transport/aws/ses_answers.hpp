/// What an answer of SES v2 to SendEmail means. Pure.
///
/// Two questions decide: did SES take the message (then it must not go again), and who is at fault
/// (the rate, the account, the route's set-up, the sender, or this one message). The code is looked
/// for in the header x-amzn-ErrorType and in the body, as JSON or XML, because front ends differ;
/// where one code stands for two things its text decides. docs/decisions/0016-ses-answers.md says
/// what is policy here and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/outgoing/http_client.hpp"
#include "transport/providers/provider.hpp"

namespace paceline {

enum class ses_class {
  accepted,
  throttle,       ///< too fast
  quota,          ///< the day's quota is used up
  account_stop,   ///< nothing of this route can be sent until somebody acts
  campaign_stop,  ///< what messages share is wrong: their sender, or the route's set-up
  message_failed, ///< this message will never be taken
  retry,          ///< provably not taken, for no reason of ours
  unknown,        ///< may have been taken
  resign,         ///< our clock or our credentials were behind; not taken
};

/// What the next signature needs after a `resign`.
enum class resign_need { none, clock, credentials };

struct ses_verdict {
  ses_class what = ses_class::unknown;
  /// `campaign_stop` because of the route's configuration set and not of the sender.
  bool is_route_setup = false;
  resign_need needs = resign_need::none;
  /// The provider's clock, where it gave one.
  std::optional<std::int64_t> provider_time; ///< seconds since 1970
  provider_answer answer;
};

/// The verdict on an answer, or on the way a call without one ended. `about` tells whose address a
/// text means. The diagnostic has status, code, text and request id; addresses in it are masked.
ses_verdict judge_send(const http_result& came, const outgoing_message& about);

/// The error's name without namespace and URI: `TooManyRequestsException`. Empty if there is none.
std::string ses_error_code(const http_result& came);
/// `status code: text (request id)` for people, cleaned and at most 600 octets; no credentials,
/// no whole addresses.
std::string ses_error_text(const http_result& came);

/// The status of one entry of SendBulkEmail's answer. Nothing for a status nobody has told us of.
std::optional<ses_class> class_of_bulk_status(std::string_view status);

/// `account_stop` in place of `resign`: signing again has not helped.
ses_verdict give_up_signing(ses_verdict refused);

} // namespace paceline
