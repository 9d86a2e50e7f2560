#include "transport/aws/ses_setup.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "config/text.hpp"
#include "config/values.hpp"
#include "transport/api/json_document.hpp"
#include "transport/aws/ses_account.hpp"
#include "transport/aws/ses_answers.hpp"
#include "transport/aws/xml_text.hpp"

namespace paceline {
namespace {

constexpr std::array<std::string_view, 6> wanted_events{
    "BOUNCE", "COMPLAINT", "DELIVERY", "DELIVERY_DELAY", "REJECT", "RENDERING_FAILURE"};

setup_finding wrong(std::string what, std::string detail) {
  return {std::move(what), false, std::move(detail)};
}

setup_finding right(std::string what, std::string detail) {
  return {std::move(what), true, std::move(detail)};
}

bool is_there(const http_result& came) {
  return came.end == transfer_end::answered && came.status == 200;
}

bool is_missing(const http_result& came) {
  return came.end == transfer_end::answered && came.status == 404;
}

/// Why there is no answer that could be judged, and what to do.
std::string failure_of(const http_result& came) {
  if (came.end != transfer_end::answered)
    return printable(came.diagnostic);
  auto text = ses_error_text(came);
  if (came.status == 403)
    text += ": check the credentials and their policy";
  return text;
}

/// A member of the object; nothing where it is not there.
std::optional<json_value> member_of(const json_value& object, std::string_view name) {
  if (object.kind() == json_kind::object)
    for (const auto& member : object)
      if (member.key() == name)
        return member;
  return std::nullopt;
}

std::optional<json_document> read_object(const http_result& came) {
  auto read = json_document::read(came.body);
  auto* document = std::get_if<json_document>(&read);
  if (!document || document->root().kind() != json_kind::object)
    return std::nullopt;
  return std::move(*document);
}

bool is_true(const std::optional<json_value>& value) {
  return value && value->kind() == json_kind::boolean && value->text() == "true";
}

std::string text_of(const std::optional<json_value>& value) {
  return value && value->kind() == json_kind::text ? printable(value->text(), 253) : std::string{};
}

std::string quota_text(const quota_reading& quota) {
  auto text = shortest(quota.max_send_rate.per_second()) + " a second, ";
  text += quota.max_24h < 0 ? "no limit a day" : std::to_string(quota.max_24h) + " a day";
  return text + " (" + std::to_string(quota.sent_24h) + " sent in the last one)";
}

/// The first of the reasons that hold for an event destination.
std::string complaint_about(const json_value& destination) {
  const auto name = text_of(member_of(destination, "Name"));
  std::vector<std::string> events;
  if (const auto types = member_of(destination, "MatchingEventTypes"))
    for (const auto& type : *types)
      events.emplace_back(type.text());
  const auto has = [&events](std::string_view event) {
    return std::find(events.begin(), events.end(), event) != events.end();
  };
  if (!is_true(member_of(destination, "Enabled")))
    return name + " is disabled: enable it";
  std::string absent;
  for (const auto event : wanted_events)
    if (!has(event))
      (absent += absent.empty() ? "" : ", ") += event;
  if (!absent.empty())
    return name + " does not report " + absent + ": add them to its event types";
  if (has("SEND"))
    return name + " reports SEND: leave it out, it doubles the events and tells nothing new";
  return {};
}

/// The finding becomes that of this destination where it goes to a topic.
void look_at_destination(const json_value& destination, destination_finding& found) {
  const auto sns = member_of(destination, "SnsDestination");
  if (!sns)
    return;
  const auto topic = text_of(member_of(*sns, "TopicArn"));
  if (topic.empty())
    return;
  const auto complaint = complaint_about(destination);
  found.topic = topic;
  found.finding =
      complaint.empty()
          ? right(found.finding.what, text_of(member_of(destination, "Name")) + " to " + topic)
          : wrong(found.finding.what, complaint);
}

/// The path of a feedback listener, whatever the host.
bool is_listener(std::string_view url) {
  return url.starts_with("https://") && url.ends_with("/v1/events/ses");
}

} // namespace

setup_finding judge_account(const http_result& came) {
  const std::string what = "account";
  if (!is_there(came))
    return wrong(what, failure_of(came));
  const auto account = read_account(came.body);
  if (!account)
    return wrong(what, "SES's answer has no quota");
  const auto quota = quota_text(account->quota);
  if (!account->sending_enabled)
    return wrong(what, "sending is disabled: see the account dashboard of SES");
  if (!account->enforcement.empty() && account->enforcement != "HEALTHY")
    return wrong(what, "its status is " + printable(account->enforcement, 64)
                           + ": answer AWS's review in the account dashboard; " + quota);
  if (!account->production_access)
    return wrong(what, "it is in the sandbox and reaches verified recipients only: request "
                       "production access; "
                           + quota);
  return right(what, quota);
}

setup_finding judge_identity(const std::string& name, const http_result& came) {
  const auto what = "identity " + printable(name, 253);
  if (is_missing(came))
    return wrong(what, "SES does not know it: create it and publish its DKIM records");
  if (!is_there(came))
    return wrong(what, failure_of(came));
  const auto document = read_object(came);
  if (!document)
    return wrong(what, "SES's answer is unreadable");
  const auto root = document->root();
  if (!is_true(member_of(root, "VerifiedForSendingStatus")))
    return wrong(what, "it is not verified: publish its DKIM records, or follow the link in AWS's "
                       "mail");
  const auto dkim = member_of(root, "DkimAttributes");
  const auto status = dkim ? text_of(member_of(*dkim, "Status")) : std::string{};
  if (status != "SUCCESS" || !is_true(member_of(*dkim, "SigningEnabled")))
    return wrong(what, "DKIM is "
                           + (status.empty()        ? "not set up"
                              : status == "SUCCESS" ? "off"
                                                    : status)
                           + ": publish its three CNAME records and enable signing");
  const auto mail_from = member_of(root, "MailFromAttributes");
  const auto domain = mail_from ? text_of(member_of(*mail_from, "MailFromDomain")) : std::string{};
  if (domain.empty())
    return right(what, "verified, DKIM signs; no MAIL FROM domain of its own");
  const auto state = text_of(member_of(*mail_from, "MailFromDomainStatus"));
  if (state != "SUCCESS")
    return wrong(what, "the MAIL FROM domain " + domain + " is " + state
                           + ": publish its MX and SPF records");
  return right(what, "verified, DKIM signs, MAIL FROM " + domain);
}

setup_finding judge_configuration_set(const std::string& name, const http_result& came) {
  const auto what = "configuration set " + printable(name, 64);
  if (is_missing(came))
    return wrong(what, "SES does not know it: create it, or correct "
                       "routes.<route>.configuration_set");
  if (!is_there(came))
    return wrong(what, failure_of(came));
  const auto document = read_object(came);
  const auto sending = document ? member_of(document->root(), "SendingOptions") : std::nullopt;
  if (sending && !is_true(member_of(*sending, "SendingEnabled")))
    return wrong(what, "its sending is disabled: enable it");
  return document ? right(what, "there, and it sends") : wrong(what, "SES's answer is unreadable");
}

destination_finding judge_event_destinations(const http_result& came) {
  const std::string what = "event destination";
  if (!is_there(came))
    return {wrong(what, failure_of(came)), {}};
  const auto document = read_object(came);
  if (!document)
    return {wrong(what, "SES's answer is unreadable"), {}};
  destination_finding found{
      wrong(what, "none goes to an SNS topic: add one, or no feedback will come"), {}};
  for (const auto& member : document->root())
    if (member.key() == "EventDestinations" && member.kind() == json_kind::array)
      for (const auto& destination : member)
        if (!found.finding.is_right)
          look_at_destination(destination, found);
  return found;
}

std::string region_of_arn(const std::string& arn) {
  std::size_t at = 0;
  for (int i = 0; i < 3 && at != std::string::npos; ++i) {
    at = arn.find(':', at);
    at = at == std::string::npos ? at : at + 1;
  }
  const auto end = at == std::string::npos ? at : arn.find(':', at);
  if (end == std::string::npos)
    return {};
  const auto region = arn.substr(at, end - at);
  const auto is_odd = [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
  };
  return std::any_of(region.begin(), region.end(), is_odd) ? std::string{} : region;
}

setup_finding judge_topic(const std::string& arn, const http_result& came) {
  const auto what = "topic " + printable(arn, 256);
  if (is_missing(came))
    return wrong(what, "SNS does not know it: create it, or correct the event destination");
  if (!is_there(came))
    return wrong(what, failure_of(came));
  for (const auto entry : xml_elements(came.body, "entry"))
    if (xml_text(entry, "key") == "TopicArn" && xml_text(entry, "value") == arn)
      return right(what, "there");
  return wrong(what, "SNS's answer is about something else");
}

std::string next_page(const http_result& page) {
  return is_there(page) ? xml_text(page.body, "NextToken") : std::string{};
}

setup_finding judge_subscriptions(const std::vector<http_result>& pages) {
  const std::string what = "subscription";
  std::string pending;
  for (const auto& page : pages) {
    if (!is_there(page))
      return wrong(what, failure_of(page));
    for (const auto one : xml_elements(page.body, "member")) {
      const auto endpoint = xml_text(one, "Endpoint");
      if (xml_text(one, "Protocol") != "https" || !is_listener(endpoint))
        continue;
      if (xml_text(one, "SubscriptionArn").starts_with("arn:"))
        return right(what, "confirmed: " + printable(endpoint));
      pending = printable(endpoint);
    }
  }
  if (!pending.empty())
    return wrong(what, pending
                           + " has not confirmed: is the feedback listener reached under that "
                             "name? Then request the confirmation again");
  return wrong(what,
               "nobody hears of events: subscribe https://HOST/v1/events/ses of your feedback "
               "listener to the topic");
}

} // namespace paceline
