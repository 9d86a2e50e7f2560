/// Shows a campaign's report on standard output, the same way for `send --wait`, `campaigns show`
/// and `curve`.
#pragma once

#include <string>

#include "storage/campaigns.hpp"
#include "storage/result.hpp"
#include "tools/paceline/report.hpp"

namespace paceline {

/// Reads figures and curve.
result<campaign_report> read_report(session& on, stream_id which);

/// Report and chart for people.
void show_report(const campaign_report& report);

/// Draws the PNG and says where it is (on standard error). Nothing to do for an empty path.
result<done> save_picture(const campaign_report& report, const std::string& path);

} // namespace paceline
