#include "tools/simulators/ses.hpp"

#include <chrono>
#include <ctime>
#include <optional>
#include <vector>

#include <openssl/evp.h>
#include <rapidjson/document.h>

#include "config/text.hpp"

namespace paceline::simulators {
namespace {

constexpr std::string_view send_path = "/v2/email/outbound-emails";
constexpr std::string_view account_path = "/v2/email/account";
constexpr std::size_t most_recipients = 50;
constexpr std::size_t longest_message = 40 << 20;
constexpr std::chrono::minutes skew{20};
constexpr int slow_factor = 10;

std::string_view text_of(const rapidjson::Value& value) {
  return value.IsString() ? std::string_view{value.GetString(), value.GetStringLength()}
                          : std::string_view{};
}

const rapidjson::Value* member(const rapidjson::Value& of, const char* name) {
  if (!of.IsObject())
    return nullptr;
  const auto found = of.FindMember(name);
  return found == of.MemberEnd() ? nullptr : &found->value;
}

/// Nothing where it is no base64.
std::optional<std::string> base64_decoded(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0)
    return std::nullopt;
  std::string octets(text.size() / 4 * 3, '\0');
  const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(octets.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (size < 0)
    return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  octets.resize(static_cast<std::size_t>(size) - padding);
  return octets;
}

/// `news@example.com` of `News <news@example.com>`.
std::string_view bare(std::string_view mailbox) {
  const auto open = mailbox.rfind('<'), close = mailbox.rfind('>');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return mailbox;
  return mailbox.substr(open + 1, close - open - 1);
}

http_answer bad_request(const std::string& text) {
  return ses_error(400, "BadRequestException", text);
}

http_answer page(int status, const char* text) {
  http_answer answer;
  answer.status = status;
  answer.headers.emplace_back("Content-Type", "text/html");
  answer.body = text;
  return answer;
}

struct worded_refusal {
  behaviour why;
  int status;
  const char *type, *text;
};

constexpr worded_refusal worded_refusals[] = {
    {behaviour::throttle, 429, "TooManyRequestsException", "Maximum sending rate exceeded."},
    {behaviour::daily_quota, 429, "TooManyRequestsException", "Daily message quota exceeded."},
    {behaviour::paused, 400, "SendingPausedException",
     "Email sending is disabled for the account."},
    {behaviour::suspended, 400, "AccountSuspendedException", "Account suspended."},
    {behaviour::reject, 400, "MessageRejected", "Email content contains a virus."},
    {behaviour::mail_from, 400, "MailFromDomainNotVerifiedException",
     "The MAIL FROM domain is not verified."},
    {behaviour::bad_request, 400, "BadRequestException",
     "Local address contains control or whitespace"},
    {behaviour::access_denied, 403, "AccessDeniedException",
     "User: arn:aws:iam::123456789012:user/u is not authorized to perform: ses:SendEmail on "
     "resource: x"},
    {behaviour::unavailable, 503, "ServiceUnavailable", "The service is unavailable."},
    {behaviour::error, 500, "InternalServiceErrorException", ""},
};

http_answer signature_answer(const signature_fault& wrong) {
  return ses_error(wrong.status, wrong.type, wrong.text);
}

} // namespace

/// What SendEmail was asked for.
struct ses_service::email {
  std::string from, configuration_set;
  std::vector<std::string> recipients;
  message_tags tags;
  std::string raw;

  /// Nothing where all is well.
  std::optional<http_answer> parse(std::string& body) {
    rapidjson::Document json;
    json.ParseInsitu(body.data());
    if (json.HasParseError() || !json.IsObject())
      return ses_error(400, "SerializationException", "The body is no JSON object.");
    if (const auto* text = member(json, "FromEmailAddress"))
      from = bare(text_of(*text));
    if (const auto* text = member(json, "ConfigurationSetName"))
      configuration_set = text_of(*text);
    if (auto wrong = parse_destination(json))
      return wrong;
    if (auto wrong = parse_tags(json))
      return wrong;
    const auto* content = member(json, "Content");
    const auto* part = content != nullptr ? member(*content, "Raw") : nullptr;
    const auto* data = part != nullptr ? member(*part, "Data") : nullptr;
    if (data == nullptr)
      return bad_request("Content.Raw.Data is missing: this stand-in takes raw messages only.");
    auto decoded = base64_decoded(text_of(*data));
    if (!decoded)
      return ses_error(400, "SerializationException", "Content.Raw.Data is no base64.");
    raw = std::move(*decoded);
    if (raw.size() > longest_message)
      return bad_request("Message length is more than 41943040 bytes long.");
    return std::nullopt;
  }

private:
  std::optional<http_answer> parse_destination(const rapidjson::Value& json) {
    const auto* destination = member(json, "Destination");
    for (const char* kind : {"ToAddresses", "CcAddresses", "BccAddresses"}) {
      const auto* list = destination != nullptr ? member(*destination, kind) : nullptr;
      if (list == nullptr || !list->IsArray())
        continue;
      for (const auto& one : list->GetArray())
        recipients.emplace_back(bare(text_of(one)));
    }
    if (recipients.empty())
      return bad_request("Destination has no recipients.");
    if (recipients.size() > most_recipients)
      return bad_request("Recipient count exceeds 50.");
    for (const auto& one : recipients)
      if (one.find('@') == std::string::npos || one.ends_with('@'))
        return bad_request("Missing final '@domain'");
    return std::nullopt;
  }

  std::optional<http_answer> parse_tags(const rapidjson::Value& json) {
    const auto* list = member(json, "EmailTags");
    if (list == nullptr || !list->IsArray())
      return std::nullopt;
    for (const auto& one : list->GetArray()) {
      const auto *name = member(one, "Name"), *value = member(one, "Value");
      if (name == nullptr || value == nullptr || !tags.take(text_of(*name), text_of(*value)))
        return bad_request("EmailTags: a tag has no name or no value.");
    }
    return std::nullopt;
  }
};

bool ses_service::resets_unread(bool is_reused) {
  return with_.fault().what == behaviour::close_before_read
         && with_.draw_fault(call_kind::send, is_reused) == behaviour::close_before_read;
}

http_answer ses_service::answer(http_request& what) {
  with_.count("requests");
  auto answer = answer_in_time(what);
  if (answer.delay.count() == 0)
    answer.delay = with_.draw_latency();
  answer.headers.emplace_back("x-amzn-RequestId", next_id());
  return answer;
}

/// All but what every answer has.
http_answer ses_service::answer_in_time(http_request& what) {
  const auto path = what.target.substr(0, what.target.find('?'));
  const bool is_send = what.method == "POST" && path == send_path;
  auto fault =
      with_.fault().what == behaviour::close_before_read
          ? behaviour::success
          : with_.draw_fault(is_send ? call_kind::send : call_kind::account, what.is_reused);
  const bool is_topic = what.method == "POST" && path == "/";
  const auto ahead = fault == behaviour::clock_skew ? skew : std::chrono::minutes{0};
  const auto now =
      static_cast<std::int64_t>(std::time(nullptr)) + std::chrono::seconds{ahead}.count();
  if (const auto wrong = signatures_.check(what, is_topic ? "sns" : "ses", now)) {
    with_.count("signature_faults");
    auto answer = signature_answer(*wrong);
    answer.headers.emplace_back("Date", http_date(ahead));
    return answer;
  }
  if (fault == behaviour::clock_skew)
    fault = behaviour::success;
  if (is_send)
    return send(what, fault);
  if (fault != behaviour::success)
    return account_fault(fault);
  if (is_topic)
    return account_.topics(what.body);
  if (what.method == "GET" && path == account_path)
    return account_.account(with_);
  if (what.method == "GET")
    if (auto found = account_.look_up(path, region_))
      return *found;
  return ses_error(404, "UnknownOperationException", "There is no such operation.");
}

http_answer ses_service::send(http_request& what, behaviour fault) {
  with_.count("sends");
  with_.count("body_bytes", static_cast<std::int64_t>(what.body.size()));
  email mail;
  if (auto wrong = mail.parse(what.body)) {
    with_.count("bad_requests");
    return *wrong;
  }
  auto how = fault != behaviour::success ? fault : behaviour_of(mail.recipients);
  if (how == behaviour::once_throttle)
    how = with_.is_first_time(std::to_string(mail.tags.message)) ? behaviour::throttle
                                                                 : behaviour::success;
  if (!is_taken(how))
    with_.count("refused_as_asked");
  if (!is_taken(how))
    return refusal_answer(how, mail);
  const auto now = std::chrono::steady_clock::now();
  switch (with_.take_quota(static_cast<std::int64_t>(mail.recipients.size()), now)) {
  case refusal::rate:
    with_.count("throttled");
    return refusal_answer(behaviour::throttle, mail);
  case refusal::daily:
    with_.count("daily_refused");
    return refusal_answer(behaviour::daily_quota, mail);
  case refusal::none:
    break;
  }
  return take(mail, how);
}

http_answer ses_service::take(const email& what, behaviour how) {
  if (!with_.accept(what.tags, what.raw, what.recipients.size(), is_unanswered(how)))
    return ses_error(500, "InternalServiceErrorException", "The ledger can't be written.");
  if (how == behaviour::error || how == behaviour::bad_gateway || how == behaviour::gateway_timeout)
    return refusal_answer(how, what);
  auto answer = json_answer(200, "{\"MessageId\":\"" + next_id() + "\"}");
  if (how == behaviour::hang)
    answer.delay = with_.hang();
  else if (how == behaviour::slow)
    answer.delay = slow_factor * with_.draw_latency();
  spoil(answer, how);
  return answer;
}

/// Answers that carry no message's id.
http_answer ses_service::refusal_answer(behaviour why, const email& what) const {
  for (const auto& one : worded_refusals)
    if (one.why == why)
      return ses_error(one.status, one.type, one.text);
  const std::string unverified = "Email address is not verified. The following identities failed "
                                 "the check in region "
                                 + region_ + ": ";
  switch (why) {
  case behaviour::unverified:
    return ses_error(400, "MessageRejected", unverified + what.from);
  case behaviour::unverified_recipient:
    return ses_error(400, "MessageRejected",
                     unverified + (what.recipients.empty() ? "" : what.recipients.front()));
  case behaviour::config_set_missing:
    return ses_error(404, "NotFoundException",
                     "Configuration set <" + what.configuration_set + "> does not exist.");
  case behaviour::bad_gateway:
    return page(502, "<html><body><h1>502 Bad Gateway</h1></body></html>");
  case behaviour::gateway_timeout:
    return page(504, "");
  case behaviour::redirect: {
    auto answer = page(301, "");
    answer.headers.emplace_back("Location", "https://elsewhere.example/");
    return answer;
  }
  default: {
    http_answer closed;
    closed.how = ending::close;
    return closed;
  }
  }
}

/// A fault of another call than a message's.
http_answer ses_service::account_fault(behaviour how) const {
  if (!is_taken(how) || how == behaviour::error || how == behaviour::bad_gateway
      || how == behaviour::gateway_timeout)
    return refusal_answer(how, {});
  auto answer = account_.account(with_);
  if (how == behaviour::hang)
    answer.delay = with_.hang();
  spoil(answer, how);
  return answer;
}

/// Of the form that SES gives its ids.
std::string ses_service::next_id() {
  std::string digits = std::to_string(++ids_);
  digits.insert(0, 16 - std::min<std::size_t>(digits.size(), 16), '0');
  return digits + "-11111111-2222-4333-8444-555555555555-000000";
}

} // namespace paceline::simulators
