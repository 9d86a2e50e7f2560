#include "storage/given_answers.hpp"

#include "storage/wall_clock.hpp"
#include "transport/api/answers.hpp"
#include "transport/api/json_output.hpp"
#include "transport/api/mailboxes.hpp"
#include "transport/api/message_request.hpp"
#include "transport/api/once.hpp"

namespace paceline {
namespace {

/// How long a client should wait where nobody knows when messages will have left.
constexpr std::chrono::seconds outstanding_retry{5};

unix_us now_us() {
  return wall_clock_ms() * 1000;
}

std::int64_t count_of(const message_request& wanted) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted.messages.size()));
}

using responder = std::string (*)(const intake_call&, const std::string& route);

std::string send_response(const intake_call& call, const std::string& route) {
  const auto& message = call.messages.front();
  json_output out;
  out.begin_object().member("id", message.id).member("route", route);
  return out.member("recipients", message.recipients.size()).end_object().take();
}

std::string batch_response(const intake_call& call, const std::string&) {
  json_output out;
  out.begin_object().name("ids").begin_array();
  for (const auto& message : call.messages)
    out.value(message.id);
  return out.end_array().member("count", call.messages.size()).end_object().take();
}

/// One request on its way into the database. Lives for that request.
class taking {
public:
  taking(api_parts& with, const api_call& call, bool is_batch)
      : with_(with), call_(call), is_batch_(is_batch) {}

  http_response answer() {
    if (auto refused = read())
      return *refused;
    if (auto refused = choose_route())
      return *refused;
    if (auto refused = take_from_limit(count_of(wanted_)))
      return *refused;
    return store();
  }

private:
  using refusal = std::optional<http_response>;

  refusal read() {
    auto refused = read_checked();
    if (refused) // a request that is refused counts as one
      if (auto limited = take_from_limit(1))
        return limited;
    return refused;
  }

  refusal read_checked() {
    auto once = read_once(call_.request);
    if (auto* refused = std::get_if<http_response>(&once))
      return std::move(*refused);
    once_ = std::get<std::optional<idempotency>>(std::move(once));
    const auto body = read_json_body(call_.request);
    if (const auto* refused = std::get_if<http_response>(&body))
      return *refused;
    problem_list problems;
    const auto root = std::get<json_document>(body).root();
    wanted_ =
        is_batch_ ? read_batch(root, now_us(), problems) : read_send(root, now_us(), problems);
    if (!problems.is_empty())
      return refuse_fields(problems);
    return check_senders();
  }

  refusal check_senders() const {
    const auto& allowed = call_.key->sender_domains;
    for (std::size_t i = 0; i < wanted_.contents.size(); ++i)
      if (!is_sender_domain(wanted_.contents[i].sender_domain, allowed))
        return refuse_field(403, "sender_not_allowed",
                            !is_batch_ ? "/from"
                            : wanted_.content_is_shared
                                ? "/content/from"
                                : "/messages/" + std::to_string(i) + "/from",
                            "the project may not send from " + wanted_.contents[i].sender_domain);
    return std::nullopt;
  }

  refusal choose_route() {
    auto chosen = with_.routes.choose(call_.key->environment, wanted_.region, boot_clock::now());
    if (!chosen)
      return refuse_choice(chosen.failure());
    auto stream = with_.routes.stream_of(chosen->route, call_.key->project, wanted_.priority);
    if (!stream)
      return refuse_error(with_, call_, stream.failure());
    route_ = *chosen;
    stream_ = *stream;
    return std::nullopt;
  }

  http_response refuse_choice(const error& failure) {
    return failure.kind == error_kind::invalid
               ? refuse_field(422, "unknown_region", "/region", failure.text)
               : refuse_error(with_, call_, failure);
  }

  refusal take_from_limit(std::int64_t count) {
    const auto wait = with_.rates.take(*call_.key, count, boot_clock::now());
    if (wait == nanoseconds{0})
      return std::nullopt;
    if (wait == sliding_window::never)
      return refuse_field(422, "over_limit", "/messages",
                          "has " + std::to_string(count) + " messages, but the key may hand in "
                              + std::to_string(*call_.key->limit_per_minute)
                              + " a minute: split the batch");
    return refuse_for_now(429, "rate_limited",
                          "The key may hand in " + std::to_string(*call_.key->limit_per_minute)
                              + " messages in any 60 seconds; nothing was stored.",
                          wait);
  }

  http_response store() {
    std::optional<keys_in_work::holder> held;
    if (once_) {
      held = with_.in_work.hold(call_.key->project, call_.key->environment, once_->key);
      if (!held)
        return refuse_in_work();
    }
    const auto count = count_of(wanted_);
    auto place = with_.outstanding.reserve(*call_.key, count);
    if (!place)
      return refuse_error(with_, call_, place.failure());
    if (!*place)
      return refuse_outstanding(count);
    const bool is_due = wanted_.is_due(now_us());
    auto job = make_job();
    const auto reply = with_.intake.take(job);
    if (!reply) {
      if (reply.failure().kind == error_kind::in_doubt)
        (*place)->settle();
      return refuse_error(with_, call_, reply.failure());
    }
    if (reply->verdict != intake_verdict::stored)
      return answer_once_more(with_, call_, *reply);
    (*place)->settle();
    if (is_due)
      with_.wake(route_.name.text());
    return json_answer(job.status, std::move(job.response));
  }

  intake_job make_job() {
    intake_job job;
    auto& call = job.call;
    call.project = call_.key->project;
    call.key = call_.key->id;
    call.environment = call_.key->environment;
    call.route = route_.route;
    call.stream = stream_;
    call.once = std::move(once_);
    for (auto& content : wanted_.contents)
      call.contents.push_back(std::move(content.what));
    call.messages = std::move(wanted_.messages);
    const responder respond = is_batch_ ? batch_response : send_response;
    job.respond = [respond, route = route_.name.text()](const intake_call& with_ids) {
      return respond(with_ids, route);
    };
    return job;
  }

  /// A request that was answered already is answered again, whatever the limit says by now.
  http_response refuse_outstanding(std::int64_t count) {
    if (once_) {
      const auto given = with_.database.run([this](session& on) {
        return find_given_answer(on, call_.key->project, call_.key->environment, once_->key,
                                 once_->body_hash);
      });
      if (!given)
        return refuse_error(with_, call_, given.failure());
      if (*given)
        return answer_once_more(with_, call_, **given);
    }
    const auto most = std::to_string(call_.key->max_outstanding);
    if (count > call_.key->max_outstanding)
      return refuse_field(422, "over_limit", is_batch_ ? "/messages" : "",
                          "is more than the project may have outstanding, " + most);
    return refuse_for_now(429, "too_many_outstanding",
                          "The project may have " + most
                              + " messages waiting in this environment; nothing was stored.",
                          outstanding_retry);
  }

  api_parts& with_;
  const api_call& call_;
  bool is_batch_;
  message_request wanted_;
  std::optional<idempotency> once_;
  route_choice route_;
  stream_id stream_;
};

} // namespace

http_response post_send(api_parts& with, const api_call& call) {
  return taking{with, call, false}.answer();
}

http_response post_batch(api_parts& with, const api_call& call) {
  return taking{with, call, true}.answer();
}

} // namespace paceline
