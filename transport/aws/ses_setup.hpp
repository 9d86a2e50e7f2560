/// What must be set up at AWS before a route can send and hear of it, judged from AWS's answers.
/// Pure. docs/ses.md says how each of these is made; `ses_inspection.hpp` asks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transport/outgoing/http_client.hpp"

namespace paceline {

/// One thing that was looked at.
struct setup_finding {
  std::string what; ///< `account`, `identity example.org`, `topic`, ...
  bool is_right = false;
  std::string detail; ///< what is there; where it is wrong, also what to do
};

/// GetAccount: sending enabled, healthy, out of the sandbox, with a quota.
setup_finding judge_account(const http_result& came);
/// GetEmailIdentity: verified, DKIM signs and is verified, a MAIL FROM domain works if there is
/// one.
setup_finding judge_identity(const std::string& name, const http_result& came);
/// GetConfigurationSet: there, and it sends.
setup_finding judge_configuration_set(const std::string& name, const http_result& came);

/// GetConfigurationSetEventDestinations: one that is enabled tells an SNS topic of all that
/// feedback needs, and not of every Send, which would double the events and say nothing new.
struct destination_finding {
  setup_finding finding;
  std::string topic; ///< ARN; empty: none to look at
};
destination_finding judge_event_destinations(const http_result& came);

/// GetTopicAttributes of SNS: the topic is there.
setup_finding judge_topic(const std::string& arn, const http_result& came);

/// ListSubscriptionsByTopic of SNS, its pages one after the other: an https subscription to a
/// feedback listener (`.../v1/events/ses`) that is confirmed.
setup_finding judge_subscriptions(const std::vector<http_result>& pages);
/// Where the next page begins; empty: that was the last.
std::string next_page(const http_result& page);

/// The region of `arn:aws:sns:REGION:ACCOUNT:NAME`; empty if it is no such name.
std::string region_of_arn(const std::string& arn);

} // namespace paceline
