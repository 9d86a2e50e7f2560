/// The bodies of the campaigns' and suppressions' calls, read and checked. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/campaigns.hpp"
#include "transport/api/content_request.hpp"
#include "transport/api/json_document.hpp"
#include "transport/api/problem_list.hpp"

namespace paceline {

/// `POST /v1/campaigns`.
struct campaign_request {
  std::string name;
  content_reading content;
  std::int16_t priority = 50;
  std::int32_t weight = 100;
  std::optional<rate> rate_cap;
  std::optional<std::string> region;
  std::vector<audience_member> recipients; ///< at most 5,000
};
/// Meaningful only where no problem was added; so are those below.
campaign_request read_campaign(json_value body, problem_list& problems);

/// `POST /v1/campaigns/{id}/recipients`: 1 to 5,000.
std::vector<audience_member> read_recipients(json_value body, problem_list& problems);

/// `POST /v1/suppressions`.
struct suppression_request {
  std::vector<std::string> addresses; ///< checked, 1 to 5,000
  std::string reason = "operator";
};
suppression_request read_suppressions(json_value body, problem_list& problems);

} // namespace paceline
