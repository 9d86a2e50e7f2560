#include "storage/drafts.hpp"
#include "storage/given_answers.hpp"

#include "transport/api/answers.hpp"
#include "transport/api/campaign_request.hpp"
#include "transport/api/json_output.hpp"
#include "transport/api/mailboxes.hpp"
#include "transport/api/once.hpp"
#include "transport/api/query_fields.hpp"

namespace paceline {
namespace {

constexpr std::chrono::seconds outstanding_retry{5};

std::string draft_response(stream_id id, const std::string& name, const std::string& route) {
  json_output out;
  out.begin_object().member("id", id).member("name", name).member("state", "draft");
  return out.member("route", route).end_object().take();
}

/// The campaign that an earlier answer tells of.
std::optional<stream_id> campaign_of(const std::string& response) {
  const auto read = json_document::read(response);
  if (const auto* document = std::get_if<json_document>(&read))
    for (const auto member : document->root())
      if (member.key() == "id")
        if (const auto id = read_id(member.text()))
          return stream_id{*id};
  return std::nullopt;
}

http_response refuse_outstanding(const api_call& call) {
  return refuse_for_now(429, "too_many_outstanding",
                        "The project may have " + std::to_string(call.key->max_outstanding)
                            + " messages waiting in this environment; nothing was stored.",
                        outstanding_retry);
}

result<append_reply> append(api_parts& with, stream_id to,
                            const std::vector<audience_member>& members) {
  return with.database.run_slow([&with, to, &members](session& on) {
    return with.campaign_ids.with_source(
        on, [&](id_source& ids) { return append_recipients(on, ids, to, members); });
  });
}

/// `POST /v1/campaigns`. Lives for one request.
class drafting {
public:
  drafting(api_parts& with, const api_call& call) : with_(with), call_(call) {}

  http_response answer() {
    if (auto refused = read())
      return *refused;
    const auto route =
        with_.routes.choose(call_.key->environment, wanted_.region, boot_clock::now());
    if (!route)
      return route.failure().kind == error_kind::invalid
                 ? refuse_field(422, "unknown_region", "/region", route.failure().text)
                 : refuse_error(with_, call_, route.failure());
    std::optional<keys_in_work::holder> held;
    if (once_) {
      held = with_.in_work.hold(call_.key->project, call_.key->environment, once_->key);
      if (!held)
        return refuse_in_work();
    }
    return store(*route);
  }

private:
  std::optional<http_response> read() {
    auto once = read_once(call_.request);
    if (auto* refused = std::get_if<http_response>(&once))
      return std::move(*refused);
    once_ = std::get<std::optional<idempotency>>(std::move(once));
    const auto body = read_json_body(call_.request);
    if (const auto* refused = std::get_if<http_response>(&body))
      return *refused;
    problem_list problems;
    wanted_ = read_campaign(std::get<json_document>(body).root(), problems);
    if (!problems.is_empty())
      return refuse_fields(problems);
    if (!is_sender_domain(wanted_.content.sender_domain, call_.key->sender_domains))
      return refuse_field(403, "sender_not_allowed", "/from",
                          "the project may not send from " + wanted_.content.sender_domain);
    return std::nullopt;
  }

  http_response store(const route_choice& route) {
    new_draft draft;
    draft.id = stream_id{with_.ids.next()};
    draft.project = call_.key->project;
    draft.key = call_.key->id;
    draft.name = wanted_.name;
    draft.route = route.route;
    draft.what = wanted_.content.what;
    draft.priority = wanted_.priority;
    draft.weight = wanted_.weight;
    draft.rate_cap = wanted_.rate_cap;
    const auto response = draft_response(draft.id, draft.name, route.name.text());
    if (once_) {
      once_->status = 201;
      once_->response = response;
    }
    // Room for the recipients comes first: a draft whose recipients were refused would be stored
    // all the same, and its key used up.
    const auto count = static_cast<std::int64_t>(wanted_.recipients.size());
    std::optional<outstanding_limits::place> place;
    if (count > 0) {
      auto reserved = with_.outstanding.reserve(*call_.key, count);
      if (!reserved)
        return refuse_error(with_, call_, reserved.failure());
      if (!*reserved)
        return without_room();
      place.emplace(std::move(**reserved));
    }
    const auto created = with_.database.run_slow([this, &draft](session& on) {
      return with_.campaign_ids.with_source(on, [&](id_source& ids) {
        return create_draft(on, ids, draft, call_.key->environment, once_, actor_of(call_));
      });
    });
    if (!created)
      return refuse_error(with_, call_, created.failure());
    const auto& verdict = created->once;
    if (verdict.verdict == intake_verdict::stored)
      return fill(draft.id, place, json_answer(201, response), true);
    auto again = answer_once_more(with_, call_, verdict);
    const auto earlier =
        verdict.verdict == intake_verdict::replayed ? campaign_of(verdict.response) : std::nullopt;
    return earlier ? fill(*earlier, place, std::move(again), false) : again;
  }

  /// The answer of an earlier request whose recipients are in is given again; all others have to
  /// wait for room.
  http_response without_room() {
    if (!once_)
      return refuse_outstanding(call_);
    const auto given = with_.database.run([this](session& on) {
      return find_given_answer(on, call_.key->project, call_.key->environment, once_->key,
                               once_->body_hash);
    });
    if (!given)
      return refuse_error(with_, call_, given.failure());
    if (!*given)
      return refuse_outstanding(call_);
    const auto earlier = campaign_of((*given)->response);
    if ((*given)->verdict == intake_verdict::replayed && earlier) {
      const auto now =
          with_.database.run([&earlier](session& on) { return show_campaign(on, *earlier); });
      if (!now)
        return refuse_error(with_, call_, now.failure());
      if (now->state == "draft"
          && now->audience < static_cast<std::int64_t>(wanted_.recipients.size()))
        return refuse_outstanding(call_);
    }
    return answer_once_more(with_, call_, **given);
  }

  /// The recipients are stored after the draft. A repeated request adds those that are missing,
  /// unless the campaign has gone on since.
  http_response fill(stream_id campaign, std::optional<outstanding_limits::place>& place,
                     http_response answer, bool is_new) {
    if (!place)
      return answer;
    const auto added = append(with_, campaign, wanted_.recipients);
    if (added) {
      place->settle();
      return answer;
    }
    if (added.failure().kind == error_kind::refused && !is_new)
      return answer;
    return refuse_error(with_, call_, added.failure());
  }

  api_parts& with_;
  const api_call& call_;
  campaign_request wanted_;
  std::optional<idempotency> once_;
};

} // namespace

http_response post_campaigns(api_parts& with, const api_call& call) {
  return drafting{with, call}.answer();
}

http_response post_campaign_recipients(api_parts& with, const api_call& call) {
  const auto body = read_json_body(call.request);
  if (const auto* refused = std::get_if<http_response>(&body))
    return *refused;
  problem_list problems;
  const auto members = read_recipients(std::get<json_document>(body).root(), problems);
  if (!problems.is_empty())
    return refuse_fields(problems);
  const auto id = read_id(call.parameters.at(0));
  if (!id)
    return not_found("campaign");
  const stream_id campaign{*id};
  const auto found =
      with.database.run([campaign](session& on) { return show_campaign(on, campaign); });
  const bool is_missing =
      found ? found->project != call.key->project || !is_of_environment(call, found->route)
            : found.failure().kind == error_kind::not_found;
  if (is_missing)
    return not_found("campaign");
  if (!found)
    return refuse_error(with, call, found.failure());
  auto place = with.outstanding.reserve(*call.key, static_cast<std::int64_t>(members.size()));
  if (!place)
    return refuse_error(with, call, place.failure());
  if (!*place)
    return refuse_outstanding(call);
  const auto added = append(with, campaign, members);
  if (!added)
    return refuse_error(with, call, added.failure());
  (*place)->settle();
  json_output out;
  out.begin_object().member("added", added->added).member("duplicates", added->duplicates);
  return json_answer(200, out.member("audience", added->audience).end_object().take());
}

} // namespace paceline
