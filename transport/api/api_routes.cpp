#include "transport/api/api_parts.hpp"

namespace paceline {
namespace {

constexpr std::array sending{key_scope::send};
constexpr std::array reading{key_scope::read};
constexpr std::array managing{key_scope::manage};
constexpr std::array canceling{key_scope::send, key_scope::manage};
constexpr std::span<const key_scope> nobody{};

constexpr std::array<api_route, 23> routes{{
    {{"POST", "/v1/send"}, sending, true, post_send},
    {{"POST", "/v1/batch"}, sending, true, post_batch},
    {{"POST", "/v1/preview"}, sending, false, post_preview},
    {{"GET", "/v1/messages"}, reading, false, get_messages, true},
    {{"GET", "/v1/messages/{id}"}, reading, false, get_message},
    {{"POST", "/v1/messages/{id}/cancel"}, canceling, false, post_message_cancel},
    {{"GET", "/v1/campaigns"}, reading, false, get_campaigns, true},
    {{"POST", "/v1/campaigns"}, managing, false, post_campaigns},
    {{"GET", "/v1/campaigns/{id}"}, reading, false, get_campaign},
    {{"POST", "/v1/campaigns/{id}/recipients"}, managing, false, post_campaign_recipients},
    {{"POST", "/v1/campaigns/{id}/send"}, managing, false, post_campaign_send},
    {{"POST", "/v1/campaigns/{id}/pause"}, managing, false, post_campaign_pause},
    {{"POST", "/v1/campaigns/{id}/resume"}, managing, false, post_campaign_resume},
    {{"POST", "/v1/campaigns/{id}/cancel"}, managing, false, post_campaign_cancel},
    {{"GET", "/v1/suppressions"}, reading, false, get_suppressions, true},
    {{"POST", "/v1/suppressions"}, managing, false, post_suppressions},
    {{"GET", "/v1/suppressions/{address}"}, reading, false, get_suppression},
    {{"DELETE", "/v1/suppressions/{address}"}, managing, false, delete_suppression},
    {{"GET", "/unsubscribe/{token}"}, nobody, false, get_unsubscribe},
    {{"POST", "/unsubscribe/{token}"}, nobody, false, post_unsubscribe},
    {{"OPTIONS", "/unsubscribe/{token}"}, nobody, false, options_unsubscribe},
    {{"GET", "/v1/health/live"}, nobody, false, get_live},
    {{"GET", "/v1/health/ready"}, nobody, false, get_ready},
}};

} // namespace

std::span<const api_route> api_routes() {
  return routes;
}

} // namespace paceline
