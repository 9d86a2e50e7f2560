/// What the API's resources work with, and the call they answer.
#pragma once

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/logging.hpp"
#include "storage/keys.hpp"
#include "transport/api/database_calls.hpp"
#include "transport/api/id_desk.hpp"
#include "transport/api/idempotency_header.hpp"
#include "transport/api/intake_desk.hpp"
#include "transport/api/key_cache.hpp"
#include "transport/api/ports.hpp"
#include "transport/api/route_choices.hpp"
#include "transport/api/routing.hpp"
#include "transport/api/usage_limits.hpp"
#include "transport/http/message.hpp"

namespace paceline {

class unsubscribe_links;

/// Thread-safe as a whole; owned by the service.
struct api_parts {
  database_calls& database;
  id_desk& ids;
  lent_ids& campaign_ids;
  intake_desk& intake;
  key_cache& keys;
  route_choices& routes;
  rate_limits& rates;
  outstanding_limits& outstanding;
  keys_in_work& in_work;
  const wake_route_function& wake;
  const health_function& health_now;
  logger& log;
  std::int32_t writer;            ///< of counters
  const unsubscribe_links* links; ///< null: none are configured
};

/// A request whose sender is known.
struct api_call {
  const http_request& request;
  const api_key* key; ///< null only on routes without one
  const std::vector<std::string>& parameters;
};

/// One route: who may call it, and what answers.
struct api_route {
  route_shape shape;
  std::span<const key_scope> scopes; ///< one of them is enough; empty: no key is asked for
  bool counts_messages = false;      ///< the answerer takes from the key's limit itself
  http_response (*answer)(api_parts&, const api_call&) = nullptr;
  bool reads_many = false; ///< a list: few at once, so that sending goes on beside them
};

/// All routes of the API, in the order of docs/openapi.yaml, which a test holds against them.
std::span<const api_route> api_routes();

// The answerers, one file per resource.
http_response post_send(api_parts&, const api_call&);
http_response post_batch(api_parts&, const api_call&);
http_response get_message(api_parts&, const api_call&);
http_response post_preview(api_parts&, const api_call&);
http_response get_messages(api_parts&, const api_call&);
http_response post_message_cancel(api_parts&, const api_call&);
http_response post_campaigns(api_parts&, const api_call&);
http_response get_campaigns(api_parts&, const api_call&);
http_response get_campaign(api_parts&, const api_call&);
http_response post_campaign_recipients(api_parts&, const api_call&);
http_response post_campaign_send(api_parts&, const api_call&);
http_response post_campaign_pause(api_parts&, const api_call&);
http_response post_campaign_resume(api_parts&, const api_call&);
http_response post_campaign_cancel(api_parts&, const api_call&);
http_response get_suppressions(api_parts&, const api_call&);
http_response post_suppressions(api_parts&, const api_call&);
http_response get_suppression(api_parts&, const api_call&);
http_response delete_suppression(api_parts&, const api_call&);
http_response get_unsubscribe(api_parts&, const api_call&);
http_response post_unsubscribe(api_parts&, const api_call&);
http_response options_unsubscribe(api_parts&, const api_call&);
http_response get_live(api_parts&, const api_call&);
http_response get_ready(api_parts&, const api_call&);

} // namespace paceline
