/// What an account at the SES stand-in has set up: what `paceline ses check` looks at.
///
/// Each thing is as it should be until `set` says otherwise (control endpoint, a text each):
/// - identity: verified, pending, missing
/// - configuration_set: present, missing, paused
/// - event_destination: present, missing, disabled, with-send (reports Send events too), no-bounce
/// - topic: present, missing
/// - subscription: confirmed, pending, missing
/// - subscription_endpoint: the URL of the subscription
/// - access: production, sandbox
/// - enforcement: HEALTHY, PROBATION, SHUTDOWN
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tools/simulators/control.hpp"
#include "tools/simulators/http_service.hpp"
#include "tools/simulators/simulation.hpp"

namespace paceline::simulators {

/// An error as SES v2 words it.
http_answer ses_error(int status, const std::string& type, const std::string& text);

class ses_account final : public adjustable {
public:
  ses_account();

  std::string set(std::string_view name, std::string_view value, bool really) override;

  /// GetAccount.
  http_answer account(const simulation& quota) const;
  /// GetEmailIdentity, GetConfigurationSet, GetConfigurationSetEventDestinations; nothing for
  /// another path (decoded). `region` is that of the request's signature.
  std::optional<http_answer> look_up(std::string_view path, const std::string& region) const;
  /// SNS's query API: GetTopicAttributes and ListSubscriptionsByTopic, from a form's body.
  http_answer topics(std::string_view form) const;

private:
  bool is(std::string_view name, std::string_view value) const;
  http_answer identity(std::string_view name) const;
  http_answer configuration_set(std::string_view name) const;
  http_answer event_destinations(std::string_view set, const std::string& region) const;

  std::map<std::string, std::string, std::less<>> texts_;
};

} // namespace paceline::simulators
