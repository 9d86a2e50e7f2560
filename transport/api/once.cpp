#include "transport/api/once.hpp"

#include "transport/api/answers.hpp"

namespace paceline {

std::variant<std::optional<idempotency>, http_response> read_once(const http_request& request) {
  auto given = read_idempotency_key(request);
  if (!given.problem.empty())
    return refuse_field(400, "invalid_field", "Idempotency-Key", std::move(given.problem));
  if (!given.key)
    return std::optional<idempotency>{};
  idempotency once;
  once.key = std::move(*given.key);
  once.body_hash = request_hash(request);
  return std::optional{std::move(once)};
}

http_response refuse_in_work() {
  return refuse_for_now(409, "in_work",
                        "A request with this Idempotency-Key is being worked for. Repeat it to "
                        "get its answer.",
                        std::chrono::seconds{1});
}

http_response answer_once_more(api_parts& with, const api_call& call, const intake_reply& reply) {
  switch (reply.verdict) {
  case intake_verdict::replayed: {
    auto answer = json_answer(reply.status, reply.response);
    answer.headers.emplace_back("Idempotent-Replay", "true");
    return answer;
  }
  case intake_verdict::other_body:
    return refuse_field(422, "idempotency_key_reused", "Idempotency-Key",
                        "belongs to another request; use a fresh one for each new request");
  case intake_verdict::in_work:
    return refuse_in_work();
  case intake_verdict::key_ended:
    with.keys.forget(call.key->id);
    return refuse_key("The API key has been revoked or has expired.");
  case intake_verdict::stored:
    break;
  }
  return refuse_error(with, call, {error_kind::internal, "a stored request has no other answer"});
}

http_response refuse_key(std::string_view detail) {
  auto answer = problem(401, "unauthorized", detail);
  answer.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"paceline\"");
  return answer;
}

} // namespace paceline
