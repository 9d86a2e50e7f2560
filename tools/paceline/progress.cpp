#include "tools/paceline/progress.hpp"

#include <algorithm>
#include <cmath>

#include "tools/paceline/output.hpp"

namespace paceline {
namespace {

constexpr double window_s = 2.0;

} // namespace

std::int64_t sent_of(const campaign_view& campaign) {
  return campaign.accepted + campaign.rejected + campaign.unknown;
}

std::int64_t left_of(const campaign_view& campaign) {
  return campaign.audience - campaign.expanded + campaign.open;
}

void progress_meter::read(double at_s, const campaign_view& campaign) {
  readings_.push_back({at_s, sent_of(campaign), left_of(campaign)});
  // One reading from before the window stays, so that the slope covers all of it.
  while (readings_.size() > 2 && readings_[1].at_s <= at_s - window_s)
    readings_.pop_front();
}

std::optional<double> progress_meter::slope(std::int64_t reading::*what) const {
  if (readings_.size() < 2)
    return std::nullopt;
  const auto& first = readings_.front();
  const auto& last = readings_.back();
  if (last.at_s <= first.at_s)
    return std::nullopt;
  return static_cast<double>(last.*what - first.*what) / (last.at_s - first.at_s);
}

std::optional<double> progress_meter::sent_per_second() const {
  auto found = slope(&reading::sent);
  // An operator who resolves unknown messages lowers the sum; that is no rate.
  return found ? std::optional{std::max(0.0, *found)} : found;
}

std::optional<double> progress_meter::eta_s() const {
  if (!readings_.empty() && readings_.back().left == 0)
    return 0.0;
  const auto falling = slope(&reading::left);
  if (!falling || *falling >= 0)
    return std::nullopt;
  return static_cast<double>(readings_.back().left) / -*falling;
}

std::string progress_line(const campaign_view& campaign, const progress_meter& meter, int width) {
  std::string line = "sent " + grouped(sent_of(campaign)) + "/" + grouped(campaign.audience);
  const auto rate = meter.sent_per_second();
  line += "  rate " + (rate ? decimal(*rate, *rate < 10 ? 1 : 0) + "/s" : std::string{"-"});
  line += "  target " + rate_text(campaign.target_per_second);
  // The number is the route's, as of its last renewal: of no meaning for a campaign that is over.
  line += "  in flight " + grouped(campaign.state == "finished" ? 0 : campaign.in_flight);
  line += "  unknown " + grouped(campaign.unknown);
  const auto eta = meter.eta_s();
  if (campaign.state == "sending") // whole seconds: parts of one would only flicker
    line += "  ETA " + (eta ? seconds_text(std::ceil(*eta)) : std::string{"-"});
  else
    line += "  " + campaign.state;
  // Plain ASCII, so octets are columns.
  if (width > 0 && line.size() > static_cast<std::size_t>(width))
    line.resize(static_cast<std::size_t>(width));
  return line;
}

} // namespace paceline
