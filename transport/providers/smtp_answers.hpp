/// What a reply, or the lack of one, means for the message. Pure; the rules stand in `smtp.hpp`.
#pragma once

#include <string>

#include "transport/providers/provider.hpp"
#include "transport/providers/smtp_reply.hpp"

namespace paceline {

/// What the server was asked when it refused.
enum class smtp_stage {
  login,     ///< greeting, EHLO, STARTTLS, AUTH: nothing of a message was shown
  sender,    ///< MAIL FROM
  recipient, ///< RCPT TO
  data,      ///< DATA, or the text before its final dot was written
  end,       ///< the final dot was written
};

/// For replies of 400 and above.
provider_answer answer_for_refusal(smtp_stage stage, const smtp_reply& reply);

/// For the 250 after the final dot. `our_id` is the Message-ID, in case the server names none.
provider_answer answer_for_acceptance(const smtp_reply& reply, const std::string& our_id);

/// The connection ended, or nothing came in time, at `stage`.
provider_answer answer_for_loss(smtp_stage stage, bool timed_out, std::string diagnostic);

} // namespace paceline
