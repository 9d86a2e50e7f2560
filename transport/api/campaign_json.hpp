/// A campaign as the API shows it. Pure.
#pragma once

#include "storage/campaigns.hpp"
#include "transport/api/json_output.hpp"

namespace paceline {

void write_campaign(json_output& out, const campaign_view& campaign);

} // namespace paceline
