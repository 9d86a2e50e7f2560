#include <array>
#include <utility>

#include "transport/api/health_json.hpp"
#include "transport/api/routing.hpp"
#include "transport/api/service.hpp"
#include "transport/http/problem.hpp"

namespace paceline {
namespace {

constexpr std::array<route_shape, 3> routes{{
    {"GET", "/v1/health/live"},
    {"GET", "/v1/health/ready"},
    {"GET", "/metrics"},
}};

} // namespace

admin_service::admin_service(health_function health_now, std::function<std::string()> metrics)
    : health_now_(std::move(health_now)), metrics_(std::move(metrics)) {}

http_response admin_service::answer(const http_request& request) const {
  const auto found = find_route(routes, request.method, request.path);
  if (!found.index && !found.allow.empty()) {
    auto answer = problem(405, "method_not_allowed", "This path allows " + found.allow + ".");
    answer.headers.emplace_back("Allow", found.allow);
    return answer;
  }
  if (!found.index)
    return problem(404, "not_found", "Here are /v1/health/live, /v1/health/ready and /metrics.");
  if (*found.index == 2)
    return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_(), {}};
  const auto now = health_now_();
  return *found.index == 0 ? health_answer(now, now.is_live, "live")
                           : health_answer(now, now.is_live && now.is_ready, "ready");
}

} // namespace paceline
