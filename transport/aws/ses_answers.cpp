#include "transport/aws/ses_answers.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "config/text.hpp"
#include "transport/api/json_document.hpp"
#include "transport/aws/aws_time.hpp"
#include "transport/aws/xml_text.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_text = 400;
constexpr auto max_retry_after = std::chrono::hours{1};

/// What an error's body says; empty where it does not say it.
struct error_body {
  std::string code, text, message_id;
};

error_body read_json(std::string_view body) {
  error_body found;
  const auto read = json_document::read(body);
  const auto* document = std::get_if<json_document>(&read);
  if (!document || document->root().kind() != json_kind::object)
    return found;
  for (const auto& member : document->root()) {
    if (member.kind() != json_kind::text)
      continue;
    if (member.key() == "__type" || (member.key() == "code" && found.code.empty()))
      found.code = member.text();
    else if (member.key() == "message" || member.key() == "Message")
      found.text = member.text();
    else if (member.key() == "MessageId")
      found.message_id = member.text();
  }
  return found;
}

error_body read_body(const std::string& body) {
  const auto start = body.find_first_not_of(" \t\r\n");
  if (start == std::string::npos)
    return {};
  if (body[start] == '{')
    return read_json(body);
  return {xml_text(body, "Code"), xml_text(body, "Message"), {}};
}

/// `com.amazonaws.sesv2#NAME:http://...` is NAME.
std::string bare_code(std::string_view given) {
  given = given.substr(0, given.find(':'));
  given = given.substr(given.rfind('#') + 1); // npos + 1 is 0
  const auto is_name = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.'
           || c == '_';
  };
  given =
      given.substr(0, static_cast<std::size_t>(std::find_if_not(given.begin(), given.end(), is_name)
                                               - given.begin()));
  return std::string{given.substr(0, 80)};
}

std::string code_of(const http_result& came, const error_body& body) {
  const auto header = came.header("x-amzn-errortype");
  auto code = header ? bare_code(*header) : std::string{};
  return code.empty() ? bare_code(body.code) : code;
}

bool contains(std::string_view text, std::string_view part) {
  const auto found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                                 [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
  return found != text.end();
}

bool is_one_of(std::string_view code, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), code) != names.end();
}

/// An address is shown as its first letter and its domain, a key id not at all.
void append_masked(std::string& to, std::string_view word) {
  if (word.find('@') != std::string_view::npos)
    to += mask_address(word);
  else if (word.size() >= 16 && (word.starts_with("AKIA") || word.starts_with("ASIA")))
    to += "***";
  else
    to += word;
}

std::string masked(std::string_view text) {
  static constexpr std::string_view separators = " ,;<>()[]\"'\t";
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of(separators, at), text.size());
    append_masked(made, text.substr(at, end - at));
    if (end < text.size())
      made += text[end];
    at = end + 1;
  }
  return made;
}

/// Refusals of a signature can repeat the signed headers, the session token among them.
std::string_view without_signed_text(std::string_view text) {
  text = text.substr(0, text.find_first_of("\r\n"));
  return text.substr(0, text.find("The Canonical String"));
}

std::string describe(const http_result& came, const error_body& body, std::string_view code) {
  auto text = std::to_string(came.status);
  if (!code.empty())
    (text += ' ') += code;
  if (const auto said = without_signed_text(body.text); !said.empty())
    (text += ": ") += printable(masked(said), max_text);
  if (const auto id = came.header("x-amzn-requestid"))
    ((text += " (request ") += printable(*id, 64)) += ')';
  return text;
}

/// Whole seconds, as AWS writes it.
std::optional<nanoseconds> retry_after_of(const http_result& came) {
  const auto given = came.header("retry-after");
  if (!given || given->empty() || given->find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  if (given->size() > 9)
    return max_retry_after;
  return std::min<nanoseconds>(std::chrono::seconds{std::stoll(std::string{*given})},
                               max_retry_after);
}

/// The sender's bare address.
std::string_view address_of(std::string_view mailbox) {
  const auto open = mailbox.rfind('<');
  if (open == std::string_view::npos)
    return mailbox;
  return mailbox.substr(open + 1, mailbox.find('>', open) - open - 1);
}

/// `Email address is not verified. The following identities failed the check in region R: A, B`.
/// In the sandbox recipients are checked, too. Only where every identity named is a recipient, and
/// none is the sender, is it this message alone that fails.
bool is_recipients_fault(std::string_view text, const outgoing_message& about) {
  const auto colon = text.rfind(": ");
  if (!contains(text, "identities failed the check") || colon == std::string_view::npos)
    return false;
  std::size_t recipients = 0;
  for (auto rest = text.substr(colon + 2); !rest.empty();) {
    const auto end = std::min(rest.find(", "), rest.size());
    const auto identity = address_of(rest.substr(0, end));
    rest = rest.substr(std::min(end + 2, rest.size()));
    const auto is_it = [identity](std::string_view known) {
      return is_same_ascii(known, identity);
    };
    if (is_it(address_of(about.sender))
        || std::none_of(about.recipients.begin(), about.recipients.end(), is_it))
      return false;
    ++recipients;
  }
  return recipients > 0;
}

ses_class class_of_signature_fault(std::string_view text, resign_need& needs) {
  if (contains(text, "expired") || contains(text, "not yet current")) {
    needs = resign_need::clock;
    return ses_class::resign;
  }
  return ses_class::account_stop;
}

/// By the error's name, where it says enough whatever the status. Nothing: the status decides.
std::optional<ses_class> class_of_code(std::string_view code, std::string_view text,
                                       const outgoing_message& about, ses_verdict& verdict) {
  if (is_one_of(code, {"TooManyRequestsException", "ThrottlingException", "Throttling",
                       "RequestLimitExceeded", "RequestThrottled", "SlowDown"}))
    return contains(text, "daily") ? ses_class::quota : ses_class::throttle;
  if (code == "LimitExceededException")
    return ses_class::quota;
  if (code == "MessageRejected") {
    if (!contains(text, "not verified"))
      return ses_class::message_failed;
    return is_recipients_fault(text, about) ? ses_class::message_failed : ses_class::campaign_stop;
  }
  if (code == "SendingPausedException") {
    verdict.is_route_setup = contains(text, "configuration set");
    return verdict.is_route_setup ? ses_class::campaign_stop : ses_class::account_stop;
  }
  if (is_one_of(code, {"MailFromDomainNotVerifiedException", "SerializationException"}))
    return ses_class::campaign_stop;
  if (code == "NotFoundException") {
    verdict.is_route_setup = true;
    return ses_class::campaign_stop;
  }
  if (is_one_of(code, {"ExpiredTokenException", "ExpiredToken"})) {
    verdict.needs = resign_need::credentials;
    return ses_class::resign;
  }
  if (code == "RequestExpired") {
    verdict.needs = resign_need::clock;
    return ses_class::resign;
  }
  if (is_one_of(code, {"InvalidSignatureException", "SignatureDoesNotMatch"}))
    return class_of_signature_fault(text, verdict.needs);
  if (is_one_of(code, {"AccountSuspendedException", "AccessDeniedException", "AccessDenied",
                       "UnrecognizedClientException", "InvalidClientTokenId", "IncompleteSignature",
                       "IncompleteSignatureException", "MissingAuthenticationTokenException",
                       "MissingAuthenticationToken", "OptInRequired", "UnknownOperationException"}))
    return ses_class::account_stop;
  return std::nullopt;
}

ses_class class_of_status(int status) {
  if (status == 429)
    return ses_class::throttle;
  // A redirect is never followed with a signed request; the others name our set-up, not a message.
  if ((status >= 300 && status < 400) || status == 401 || status == 403 || status == 404
      || status == 405 || status == 407)
    return ses_class::account_stop;
  // 408: the request never came whole. 503: the front end turned it away.
  if (status == 408 || status == 503)
    return ses_class::retry;
  return status >= 400 && status < 500 ? ses_class::message_failed : ses_class::unknown;
}

provider_answer answer_of(outcome_kind kind, refusal refused, reason_code reason) {
  provider_answer answer;
  answer.kind = kind;
  answer.refused = refused;
  answer.reason = reason;
  return answer;
}

provider_answer answer_for(const ses_verdict& verdict) {
  using kind = outcome_kind;
  switch (verdict.what) {
  case ses_class::accepted:
    return answer_of(kind::accepted, refusal::none, reason_code::none);
  case ses_class::throttle:
    return answer_of(kind::throttled, refusal::rate, reason_code::provider_throttled);
  case ses_class::quota:
    return answer_of(kind::throttled, refusal::daily_quota, reason_code::provider_daily_quota);
  case ses_class::account_stop:
    return answer_of(kind::throttled, refusal::sending_paused,
                     reason_code::provider_sending_paused);
  case ses_class::campaign_stop:
    if (verdict.is_route_setup)
      return answer_of(kind::throttled, refusal::sending_paused,
                       reason_code::provider_sending_paused);
    return answer_of(kind::throttled, refusal::stream, reason_code::stream_refused);
  case ses_class::message_failed:
    return answer_of(kind::rejected, refusal::this_message, reason_code::provider_rejected);
  case ses_class::retry:
    return answer_of(kind::throttled, refusal::none, reason_code::provider_unavailable);
  case ses_class::resign:
    return answer_of(kind::throttled, refusal::none, reason_code::signature_refused);
  case ses_class::unknown:
    break;
  }
  return answer_of(kind::unknown, refusal::none, reason_code::provider_server_error);
}

/// What to do about it, for whoever reads the diagnostic.
std::string_view advice_for(const ses_verdict& verdict, int status) {
  if (status >= 300 && status < 400)
    return "; the endpoint redirects: set routes.<route>.endpoint to where SES is";
  if (verdict.what == ses_class::campaign_stop)
    return verdict.is_route_setup
               ? "; check routes.<route>.configuration_set with paceline ses check"
               : "; verify the sender's identity in SES: paceline ses check tells what is missing";
  if (verdict.what == ses_class::account_stop)
    return "; paceline ses check tells what is wrong";
  return {};
}

ses_verdict judge_ending(const http_result& came) {
  ses_verdict verdict;
  const auto is = [&verdict](ses_class what, outcome_kind kind, reason_code reason) {
    verdict.what = what;
    verdict.answer = answer_of(kind, refusal::none, reason);
  };
  switch (came.end) {
  case transfer_end::not_written:
    is(ses_class::retry, outcome_kind::not_started, reason_code::provider_unreachable);
    // Somebody else answers there, or the authorities are not ours: nothing to be tried again.
    if (came.bad_certificate) {
      verdict.what = ses_class::account_stop;
      verdict.answer = answer_for(verdict);
    }
    break;
  case transfer_end::refused:
    // The courier knows why it said no.
    is(ses_class::retry, outcome_kind::not_started, reason_code::none);
    break;
  case transfer_end::not_taken:
    is(ses_class::retry, outcome_kind::throttled, reason_code::provider_unavailable);
    break;
  case transfer_end::timed_out:
    is(ses_class::unknown, outcome_kind::unknown, reason_code::provider_timeout);
    break;
  case transfer_end::answered:
  case transfer_end::lost:
  case transfer_end::too_large:
    is(ses_class::unknown, outcome_kind::unknown, reason_code::provider_connection_lost);
    break;
  }
  verdict.answer.diagnostic = printable(came.diagnostic, max_text);
  return verdict;
}

} // namespace

std::string ses_error_code(const http_result& came) {
  return code_of(came, read_body(came.body));
}

std::string ses_error_text(const http_result& came) {
  const auto body = read_body(came.body);
  return describe(came, body, code_of(came, body));
}

ses_verdict judge_send(const http_result& came, const outgoing_message& about) {
  if (came.end != transfer_end::answered)
    return judge_ending(came);
  ses_verdict verdict;
  const auto body = read_body(came.body);
  const auto code = code_of(came, body);
  if (const auto date = came.header("date"))
    verdict.provider_time = read_http_date(*date);
  if (came.status >= 200 && came.status < 300) {
    // Without an id it was taken all the same; only nobody can say under which name.
    verdict.what = body.message_id.empty() ? ses_class::unknown : ses_class::accepted;
    verdict.answer = answer_for(verdict);
    verdict.answer.provider_id = body.message_id;
    if (verdict.what == ses_class::unknown)
      verdict.answer.diagnostic = describe(came, {}, code) + ", without a readable MessageId";
    return verdict;
  }
  const auto by_code = came.status < 500 || came.status == 503
                           ? class_of_code(code, body.text, about, verdict)
                           : std::nullopt;
  verdict.what = by_code.value_or(class_of_status(came.status));
  if (verdict.what == ses_class::throttle && contains(body.text, "daily"))
    verdict.what = ses_class::quota;
  verdict.answer = answer_for(verdict);
  verdict.answer.diagnostic = describe(came, body, code);
  verdict.answer.diagnostic += advice_for(verdict, came.status);
  if (verdict.what == ses_class::throttle || verdict.what == ses_class::retry)
    verdict.answer.retry_after = retry_after_of(came);
  if (verdict.what == ses_class::resign)
    verdict.answer.retry_after = nanoseconds{0};
  return verdict;
}

ses_verdict give_up_signing(ses_verdict refused) {
  refused.what = ses_class::account_stop;
  refused.needs = resign_need::none;
  auto diagnostic = std::move(refused.answer.diagnostic);
  refused.answer = answer_for(refused);
  refused.answer.diagnostic =
      std::move(diagnostic)
      + "; signing again did not help: check the machine's clock and the credentials";
  return refused;
}

std::optional<ses_class> class_of_bulk_status(std::string_view status) {
  struct known {
    std::string_view status;
    ses_class what;
  };
  static constexpr std::array table{
      known{"SUCCESS", ses_class::accepted},
      known{"MESSAGE_REJECTED", ses_class::message_failed},
      known{"MAIL_FROM_DOMAIN_NOT_VERIFIED", ses_class::campaign_stop},
      known{"CONFIGURATION_SET_NOT_FOUND", ses_class::campaign_stop},
      known{"TEMPLATE_NOT_FOUND", ses_class::campaign_stop},
      known{"ACCOUNT_SUSPENDED", ses_class::account_stop},
      known{"ACCOUNT_THROTTLED", ses_class::throttle},
      known{"ACCOUNT_DAILY_QUOTA_EXCEEDED", ses_class::quota},
      known{"INVALID_SENDING_POOL_NAME", ses_class::campaign_stop},
      known{"ACCOUNT_SENDING_PAUSED", ses_class::account_stop},
      known{"CONFIGURATION_SET_SENDING_PAUSED", ses_class::campaign_stop},
      known{"INVALID_PARAMETER", ses_class::message_failed},
      known{"TRANSIENT_FAILURE", ses_class::retry},
      known{"FAILED", ses_class::message_failed},
  };
  for (const auto& [name, what] : table)
    if (name == status)
      return what;
  return std::nullopt;
}

} // namespace paceline
