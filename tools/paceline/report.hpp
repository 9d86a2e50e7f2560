/// What a campaign did, in figures: the end of `send --wait` and of `campaigns show`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/campaigns.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"

namespace paceline {

/// Figures per second from the dispatch curve.
struct curve_figures {
  std::int64_t starts = 0;
  /// Starts per second from the first start to the last: (starts - 1) / span. Nothing below two
  /// starts, or where all fall on one instant.
  std::optional<double> mean;
  /// Of whole seconds: the first and the last are partial and left out. Nothing where none is left.
  std::optional<double> median;
  std::optional<double> p90;     ///< nearest rank: nine of ten seconds had at most this
  std::int64_t peak = 0;         ///< of all seconds, also the partial ones
  std::int64_t idle_seconds = 0; ///< seconds without a start between the first and the last
};

/// `span_s`: seconds from the first start to the last, as stamped, if known.
curve_figures figures_of(const curve& dispatched, std::optional<double> span_s);

/// Every recipient is in a final state: none open, none unknown, and the expansion is complete.
bool is_settled(const campaign_view& campaign);
/// Nothing will change by itself any more: finished, failed, or canceled and nothing open.
bool is_over(const campaign_view& campaign);

struct campaign_report {
  campaign_view campaign;
  curve dispatched;
};

/// Figures and counts as aligned lines.
std::string report_text(const campaign_report& report, const terminal& on);
/// The dispatch curve as a chart for this terminal.
std::string report_chart(const campaign_report& report, const terminal& on);
/// One object with the keys campaign, name, route, state, the reasons, settled, counts, figures,
/// curve.
void report_json(json_text& out, const campaign_report& report);
/// Why it waits, one line each: what the provider says of it, and of its route. Empty where nothing
/// keeps it.
std::string reasons_text(const campaign_view& campaign, const terminal& on);
/// The same as the members state_reason, route_state and route_reason.
void reasons_json(json_text& out, const campaign_view& campaign);
/// The counts alone, as a member of an object.
void counts_json(json_text& out, const campaign_view& campaign);

} // namespace paceline
