#include "transport/api/answers.hpp"
#include "transport/api/health_json.hpp"
#include "transport/api/query_fields.hpp"

namespace paceline {

http_response health_answer(const health& now, bool fine, std::string_view word) {
  json_output out;
  out.begin_object().member("status", fine ? word : std::string_view{"no"});
  if (!fine) {
    out.name("reasons").begin_array();
    for (const auto& reason : now.reasons)
      out.value(reason);
    out.end_array();
  }
  auto answer = json_answer(fine ? 200 : 503, out.end_object().take());
  answer.headers.emplace_back("Cache-Control", "no-store");
  return answer;
}

http_response get_live(api_parts& with, const api_call&) {
  const auto now = with.health_now();
  return health_answer(now, now.is_live, "live");
}

http_response get_ready(api_parts& with, const api_call&) {
  const auto now = with.health_now();
  return health_answer(now, now.is_live && now.is_ready, "ready");
}

} // namespace paceline
