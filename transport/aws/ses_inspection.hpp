/// Looks at what a route needs at AWS. Blocks the caller: for commands, not for nodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "transport/aws/ses_setup.hpp"
#include "transport/providers/ses.hpp"

namespace paceline {

/// Asks, in this order: credentials, GetAccount, GetEmailIdentity for each of `identities` (domains
/// or addresses; an address that SES does not know is looked for as its domain),
/// GetConfigurationSet, its event destinations, GetTopicAttributes and ListSubscriptionsByTopic of
/// the SNS topic found there. What can't be looked at because something before it is wrong is left
/// out. SNS is asked at AWS's own endpoint of the topic's region, or, where the route's endpoint is
/// not AWS's, there too. Throws std::runtime_error where the file with authorities can't be read.
std::vector<setup_finding> inspect_ses(const ses_options& route,
                                       const std::vector<std::string>& identities);

} // namespace paceline
