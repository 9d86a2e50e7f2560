#include "transport/api/campaign_json.hpp"

namespace paceline {

void write_campaign(json_output& out, const campaign_view& campaign) {
  out.begin_object().member("id", campaign.id).member("name", campaign.name);
  out.member("state", campaign.state).member_or_null("state_reason", campaign.state_reason);
  out.member("route", campaign.route).member_or_null("route_reason", campaign.route_reason);
  out.member("audience", campaign.audience);
  out.member("not_expanded", campaign.audience - campaign.expanded);
  out.member("open", campaign.open).member("unknown", campaign.unknown);
  out.member("accepted", campaign.accepted).member("rejected", campaign.rejected);
  out.member("suppressed", campaign.suppressed).member("canceled", campaign.canceled);
  out.member("expired", campaign.expired);
  out.member("requested_at", campaign.requested_at);
  out.member_or_null("finished_at", campaign.finished_at).end_object();
}

} // namespace paceline
