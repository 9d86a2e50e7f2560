#include "tools/paceline/show.hpp"

#include "tools/paceline/output.hpp"
#include "tools/paceline/png.hpp"

namespace paceline {

result<campaign_report> read_report(session& on, stream_id which) {
  auto campaign = show_campaign(on, which);
  if (!campaign)
    return campaign.failure();
  auto dispatched = dispatch_curve(on, which);
  if (!dispatched)
    return dispatched.failure();
  return campaign_report{std::move(*campaign), std::move(*dispatched)};
}

void show_report(const campaign_report& report) {
  const auto on = describe_terminal(1);
  print(report_text(report, on) + "\n" + report_chart(report, on));
}

result<done> save_picture(const campaign_report& report, const std::string& path) {
  if (path.empty())
    return done{};
  const auto& campaign = report.campaign;
  picture what;
  what.title =
      campaign.name.empty() ? "Campaign " + std::to_string(campaign.id.value()) : campaign.name;
  what.title += " on " + campaign.route + ": " + counted(campaign.audience, "recipient");
  what.dispatched = report.dispatched;
  what.target_per_second = campaign.target_per_second;
  auto drawn = draw_png(what, path);
  if (drawn)
    say("the dispatch curve is in " + path);
  return drawn;
}

} // namespace paceline
