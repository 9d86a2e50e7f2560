#include "actors/campaigns/round.hpp"

#include <algorithm>

namespace paceline {
namespace {

/// What one campaign needs, for at most `limits.pages_per_round` statements.
result<bool> cancel_rest(session& db, const open_campaign& campaign, const expansion_limits& limits,
                         std::int32_t writer) {
  for (std::int32_t i = 0; i < limits.pages_per_round; ++i) {
    auto changed = cancel_page(db, campaign.campaign, limits.page, writer);
    if (!changed)
      return changed.failure();
    if (*changed < limits.page)
      break;
  }
  return true;
}

result<std::int64_t> expand(session& db, const open_campaign& campaign, std::int64_t buffer,
                            const expansion_limits& limits, std::int32_t writer) {
  std::int64_t inserted = 0;
  for (std::int32_t i = 0; i < limits.pages_per_round && campaign.open + inserted < buffer; ++i) {
    auto page = expand_page(db, campaign.campaign, limits.page, writer);
    if (!page)
      return page.failure();
    inserted += page->inserted;
    if (page->done || !page->moved)
      break;
  }
  return inserted;
}

} // namespace

std::int64_t expansion_buffer(const expansion_limits& limits, rate target) {
  auto seconds = std::chrono::duration<double>(limits.buffer).count();
  auto rows = static_cast<std::int64_t>(target.per_second() * seconds);
  return std::clamp(rows, limits.buffer_min, limits.buffer_max);
}

result<campaign_round_report> run_campaign_round(session& db,
                                                 const std::map<route_id, expansion_route>& routes,
                                                 const expansion_limits& limits,
                                                 std::int32_t writer) {
  std::vector<route_id> ids;
  for (const auto& [id, route] : routes)
    ids.push_back(id);
  auto open = open_campaigns(db, ids);
  if (!open)
    return open.failure();
  campaign_round_report report;
  report.open = static_cast<std::int64_t>(open->size());
  for (const auto& campaign : *open) {
    const auto& route = routes.at(campaign.route);
    if (campaign.canceled) {
      if (auto canceled = cancel_rest(db, campaign, limits, writer); !canceled)
        return canceled.failure();
    } else if (!campaign.expansion_done) {
      ++report.expanding;
      auto inserted = expand(db, campaign, route.buffer, limits, writer);
      if (!inserted)
        return inserted.failure();
      if (*inserted > 0)
        report.woken.push_back(route.text);
    } else if (campaign.open == 0) {
      auto finished = finish_campaign(db, campaign.campaign);
      if (!finished)
        return finished.failure();
      report.finished += *finished ? 1 : 0;
    }
  }
  return report;
}

} // namespace paceline
