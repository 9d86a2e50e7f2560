#include "storage/campaigns.hpp"

#include <thread>

#include "storage/drafts.hpp"
#include "storage/model/claim_horizon.hpp"
#include "transport/api/answers.hpp"
#include "transport/api/campaign_json.hpp"
#include "transport/api/query_fields.hpp"

namespace paceline {
namespace {

constexpr std::string_view cursor_kind = "c";

/// The campaign of the path, if it is the caller's.
result<campaign_view> find_campaign(api_parts& with, const api_call& call) {
  const auto id = read_id(call.parameters.at(0));
  const error missing{error_kind::not_found, {}};
  if (!id)
    return missing;
  auto found = with.database.run([id](session& on) { return show_campaign(on, stream_id{*id}); });
  if (found && (found->project != call.key->project || !is_of_environment(call, found->route)))
    return missing;
  return found;
}

http_response refuse_campaign(api_parts& with, const api_call& call, const error& failure) {
  return failure.kind == error_kind::not_found ? not_found("campaign")
                                               : refuse_error(with, call, failure);
}

http_response show(const campaign_view& campaign) {
  json_output out;
  write_campaign(out, campaign);
  return json_answer(200, out.take());
}

using change_function = result<done> (*)(session&, stream_id, std::string_view actor);

/// A change of state, and the campaign after it. Where claims may hold its messages, the answer
/// waits until none of them can start a call any more: on this thread, not on a database's.
http_response change(api_parts& with, const api_call& call, change_function apply,
                     bool waits_for_claims) {
  if (auto refused = refuse_body(call.request))
    return *refused;
  query_fields query{call.request};
  if (!query.finish())
    return refuse_fields(query.problems());
  auto campaign = find_campaign(with, call);
  if (!campaign)
    return refuse_campaign(with, call, campaign.failure());
  const auto id = campaign->id;
  const auto changed = with.database.run_slow(
      [&call, apply, id](session& on) { return apply(on, id, actor_of(call)); });
  if (!changed)
    return refuse_campaign(with, call, changed.failure());
  with.wake(campaign->route);
  if (waits_for_claims)
    std::this_thread::sleep_for(claim_horizon);
  campaign = find_campaign(with, call);
  return campaign ? show(*campaign) : refuse_campaign(with, call, campaign.failure());
}

} // namespace

http_response get_campaigns(api_parts& with, const api_call& call) {
  query_fields query{call.request};
  campaign_filter filter;
  filter.project = call.key->project;
  filter.environment = call.key->environment;
  filter.limit = static_cast<std::int32_t>(query.integer("limit", 1, 1000).value_or(50));
  if (const auto cursor = query.text("cursor")) {
    const auto last = read_cursor(cursor_kind, *cursor);
    const auto id = last ? read_id(*last) : std::nullopt;
    if (id)
      filter.before = stream_id{*id};
    else
      query.add("cursor", "is none that this list has given as next");
  }
  if (!query.finish())
    return refuse_fields(query.problems());
  const auto page =
      with.database.run([&filter](session& on) { return list_campaigns(on, filter); });
  if (!page)
    return refuse_error(with, call, page.failure());
  json_output out;
  out.begin_object().name("campaigns").begin_array();
  for (const auto& campaign : *page)
    write_campaign(out, campaign);
  out.end_array();
  const bool is_last = page->size() < static_cast<std::size_t>(filter.limit);
  out.member_or_null("next",
                     is_last ? std::string{}
                             : make_cursor(cursor_kind, std::to_string(page->back().id.value())));
  return json_answer(200, out.end_object().take());
}

http_response get_campaign(api_parts& with, const api_call& call) {
  query_fields query{call.request};
  if (!query.finish())
    return refuse_fields(query.problems());
  const auto found = find_campaign(with, call);
  return found ? show(*found) : refuse_campaign(with, call, found.failure());
}

http_response post_campaign_send(api_parts& with, const api_call& call) {
  return change(with, call, send_draft, false);
}
http_response post_campaign_pause(api_parts& with, const api_call& call) {
  return change(with, call, pause_campaign, true);
}
http_response post_campaign_resume(api_parts& with, const api_call& call) {
  return change(with, call, resume_campaign, false);
}
http_response post_campaign_cancel(api_parts& with, const api_call& call) {
  return change(with, call, cancel_campaign, true);
}

} // namespace paceline
