#include "tools/simulators/ses_account.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "config/text.hpp"

namespace paceline::simulators {
namespace {

constexpr std::string_view account_number = "123456789012";

struct choice {
  std::string_view name;
  std::string_view values; ///< the first is the default; empty: any text
};

constexpr std::array choices{
    choice{"identity", "verified pending missing"},
    choice{"configuration_set", "present missing paused"},
    choice{"event_destination", "present missing disabled with-send no-bounce"},
    choice{"topic", "present missing"},
    choice{"subscription", "confirmed pending missing"},
    choice{"subscription_endpoint", ""},
    choice{"access", "production sandbox"},
    choice{"enforcement", "HEALTHY PROBATION SHUTDOWN"},
};

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const auto one = words.substr(0, words.find(' '));
    if (one == word)
      return true;
    words.remove_prefix(std::min(words.size(), one.size() + 1));
  }
  return false;
}

/// The value of a field of an application/x-www-form-urlencoded body.
std::string form_field(std::string_view form, std::string_view name) {
  while (!form.empty()) {
    const auto pair = form.substr(0, form.find('&'));
    form.remove_prefix(std::min(form.size(), pair.size() + 1));
    if (pair.substr(0, pair.find('=')) != name)
      continue;
    std::string value;
    for (std::size_t i = std::min(pair.size(), name.size() + 1); i < pair.size(); ++i) {
      if (pair[i] == '%' && i + 2 < pair.size()) {
        value.push_back(static_cast<char>(
            std::strtol(std::string{pair.substr(i + 1, 2)}.c_str(), nullptr, 16)));
        i += 2;
      } else {
        value.push_back(pair[i] == '+' ? ' ' : pair[i]);
      }
    }
    return value;
  }
  return "";
}

http_answer xml(int status, const std::string& text) {
  http_answer answer;
  answer.status = status;
  answer.headers.emplace_back("Content-Type", "text/xml");
  answer.body = text;
  return answer;
}

http_answer sns_error(int status, const std::string& code, const std::string& text) {
  return xml(status, "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error>"
                     "<Type>Sender</Type><Code>"
                         + code + "</Code><Message>" + text
                         + "</Message></Error><RequestId>r</RequestId></ErrorResponse>");
}

std::string sns_answer(const std::string& action, const std::string& result) {
  return "<" + action + "Response xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><" + action
         + "Result>" + result + "</" + action
         + "Result><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></" + action
         + "Response>";
}

std::string number(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

} // namespace

http_answer ses_error(int status, const std::string& type, const std::string& text) {
  auto answer = json_answer(status, "{\"message\":" + json_string(text) + "}");
  answer.headers.emplace_back("x-amzn-ErrorType", type);
  return answer;
}

ses_account::ses_account() {
  for (const auto& one : choices)
    texts_[std::string{one.name}] = one.values.substr(0, one.values.find(' '));
  texts_["subscription_endpoint"] = "https://mail.example.com/v1/events/ses";
}

std::string ses_account::set(std::string_view name, std::string_view value, bool really) {
  for (const auto& one : choices) {
    if (one.name != name)
      continue;
    if (!one.values.empty() && !has_word(one.values, value))
      return std::string{name} + ": one of " + std::string{one.values};
    if (really)
      texts_[std::string{name}] = value;
    return "";
  }
  return std::string{name} + ": there is no such field";
}

bool ses_account::is(std::string_view name, std::string_view value) const {
  return texts_.find(name)->second == value;
}

http_answer ses_account::account(const simulation& quota) const {
  const auto& options = quota.options();
  const auto& enforcement = texts_.find("enforcement")->second;
  return json_answer(
      200, "{\"DedicatedIpAutoWarmupEnabled\":false,\"EnforcementStatus\":\"" + enforcement
               + "\",\"ProductionAccessEnabled\":" + (is("access", "production") ? "true" : "false")
               + ",\"SendQuota\":{\"Max24HourSend\":"
               + (options.daily_quota > 0 ? std::to_string(options.daily_quota) + ".0" : "-1.0")
               + ",\"MaxSendRate\":" + number(options.rate)
               + ",\"SentLast24Hours\":" + std::to_string(quota.sent())
               + ".0},\"SendingEnabled\":" + (enforcement == "SHUTDOWN" ? "false" : "true")
               + ",\"SuppressionAttributes\":{\"SuppressedReasons\":[\"BOUNCE\",\"COMPLAINT\"]}}");
}

std::optional<http_answer> ses_account::look_up(std::string_view path,
                                                const std::string& region) const {
  constexpr std::string_view identities = "/v2/email/identities/";
  constexpr std::string_view sets = "/v2/email/configuration-sets/";
  constexpr std::string_view destinations = "/event-destinations";
  if (path.starts_with(identities))
    return identity(path.substr(identities.size()));
  if (!path.starts_with(sets))
    return std::nullopt;
  path.remove_prefix(sets.size());
  if (!path.ends_with(destinations))
    return configuration_set(path);
  path.remove_suffix(destinations.size());
  return event_destinations(path, region);
}

http_answer ses_account::identity(std::string_view name) const {
  if (is("identity", "missing"))
    return ses_error(404, "NotFoundException",
                     "Email identity " + std::string{name} + " does not exist.");
  const bool is_verified = is("identity", "verified");
  const bool is_domain = name.find('@') == std::string_view::npos;
  const std::string status = is_verified ? "SUCCESS" : "PENDING";
  return json_answer(200,
                     std::string{"{\"IdentityType\":\""} + (is_domain ? "DOMAIN" : "EMAIL_ADDRESS")
                         + "\",\"VerifiedForSendingStatus\":" + (is_verified ? "true" : "false")
                         + ",\"VerificationStatus\":\"" + status
                         + "\",\"DkimAttributes\":{\"SigningEnabled\":true,\"Status\":\"" + status
                         + "\",\"SigningAttributesOrigin\":\"AWS_SES\",\"Tokens\":[]},"
                           "\"FeedbackForwardingStatus\":true,\"Policies\":{},\"Tags\":[]}");
}

http_answer ses_account::configuration_set(std::string_view name) const {
  if (is("configuration_set", "missing"))
    return ses_error(404, "NotFoundException",
                     "Configuration set <" + std::string{name} + "> does not exist.");
  const bool sends = !is("configuration_set", "paused");
  return json_answer(200,
                     "{\"ConfigurationSetName\":" + json_string(name)
                         + ",\"SendingOptions\":{\"SendingEnabled\":" + (sends ? "true" : "false")
                         + "},\"ReputationOptions\":{\"ReputationMetricsEnabled\":true},"
                           "\"DeliveryOptions\":{},\"Tags\":[]}");
}

http_answer ses_account::event_destinations(std::string_view set, const std::string& region) const {
  if (is("configuration_set", "missing"))
    return configuration_set(set);
  if (is("event_destination", "missing"))
    return json_answer(200, "{\"EventDestinations\":[]}");
  std::string types = is("event_destination", "no-bounce") ? "" : "\"BOUNCE\",";
  types += "\"COMPLAINT\",\"DELIVERY\",\"DELIVERY_DELAY\",\"REJECT\",\"RENDERING_FAILURE\"";
  if (is("event_destination", "with-send"))
    types += ",\"SEND\"";
  const bool is_enabled = !is("event_destination", "disabled");
  return json_answer(200, std::string{"{\"EventDestinations\":[{\"Name\":\"paceline\",\"Enabled\":"}
                              + (is_enabled ? "true" : "false") + ",\"MatchingEventTypes\":["
                              + types + "],\"SnsDestination\":{\"TopicArn\":\"arn:aws:sns:" + region
                              + ":" + std::string{account_number} + ":paceline\"}}]}");
}

http_answer ses_account::topics(std::string_view form) const {
  const auto action = form_field(form, "Action"), topic = form_field(form, "TopicArn");
  if (action != "GetTopicAttributes" && action != "ListSubscriptionsByTopic")
    return sns_error(400, "InvalidAction", "The action " + action + " is not valid.");
  if (is("topic", "missing"))
    return sns_error(404, "NotFound", "Topic does not exist");
  if (action == "GetTopicAttributes")
    return xml(200, sns_answer(action, "<Attributes><entry><key>TopicArn</key><value>" + topic
                                           + "</value></entry><entry><key>Owner</key><value>"
                                           + std::string{account_number}
                                           + "</value></entry></Attributes>"));
  if (is("subscription", "missing"))
    return xml(200, sns_answer(action, "<Subscriptions/>"));
  const auto arn = is("subscription", "pending") ? "PendingConfirmation" : topic + ":1";
  return xml(200, sns_answer(action, "<Subscriptions><member><TopicArn>" + topic
                                         + "</TopicArn><Protocol>https</Protocol><SubscriptionArn>"
                                         + arn + "</SubscriptionArn><Owner>"
                                         + std::string{account_number} + "</Owner><Endpoint>"
                                         + texts_.find("subscription_endpoint")->second
                                         + "</Endpoint></member></Subscriptions>"));
}

} // namespace paceline::simulators
