#include "storage/suppressions.hpp"

#include "transport/api/answers.hpp"
#include "transport/api/one_click.hpp"
#include "transport/api/unsubscribe_page.hpp"
#include "transport/mail/unsubscribe_link.hpp"

namespace paceline {
namespace {

/// Who leaves what, if the link is one of ours. Whatever is wrong with it, the answer is the same,
/// and its token gets into no log.
std::optional<unsubscribe_claim> read_claim(const api_parts& with, const api_call& call) {
  if (with.links == nullptr)
    return std::nullopt;
  return with.links->read(call.parameters.at(0));
}

http_response refuse_link() {
  return unsubscribe_refusal(404, "This link does not work",
                             "It may have been cut off on its way. Use the whole link from the "
                             "message, or answer the message and ask to be taken off its list.");
}

http_response refuse_for_now(api_parts& with, const api_call& call, const error& failure) {
  const auto plain = refuse_error(with, call, failure);
  auto answer = unsubscribe_refusal(plain.status, "Not done yet",
                                    "It did not work right now, and nothing has changed. Please "
                                    "try again in a minute.");
  if (plain.status == 503)
    answer.headers.emplace_back("Retry-After", "60");
  return answer;
}

} // namespace

/// Link checkers and previews come here, too: nothing changes.
http_response get_unsubscribe(api_parts& with, const api_call& call) {
  const auto claim = read_claim(with, call);
  return claim ? unsubscribe_question(claim->address) : refuse_link();
}

http_response post_unsubscribe(api_parts& with, const api_call& call) {
  const auto claim = read_claim(with, call);
  if (!claim)
    return refuse_link();
  if (call.request.body.size() > max_one_click_body)
    return unsubscribe_refusal(413, "Too large", "The request has a body of more than 16 KiB.");
  if (!is_one_click(call.request.header("Content-Type"), call.request.body))
    return unsubscribe_refusal(400, "Not done",
                               "The request has no List-Unsubscribe=One-Click in its form, and "
                               "nothing has changed. Open the link and use its button.");
  const auto recorded = with.database.run_slow([&claim](session& on) {
    return record_unsubscribe(on, claim->project, claim->environment, claim->stream,
                              claim->address);
  });
  if (!recorded)
    return refuse_for_now(with, call, recorded.failure());
  if (*recorded)
    with.log.info("a recipient has unsubscribed", {{"request_id", call.request.id},
                                                   {"project", claim->project.value()},
                                                   {"environment", claim->environment},
                                                   {"campaign", claim->stream.value()}});
  return unsubscribe_confirmation(claim->address);
}

http_response options_unsubscribe(api_parts&, const api_call&) {
  http_response answer;
  answer.status = 204;
  answer.headers.emplace_back("Allow", "GET, HEAD, POST, OPTIONS");
  return answer;
}

} // namespace paceline
