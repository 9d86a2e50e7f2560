#include "transport/api/route_choices.hpp"

#include <algorithm>

namespace paceline {
namespace {

std::string regions_of(const std::vector<route_choice>& routes) {
  std::string all;
  for (const auto& route : routes)
    all += (all.empty() ? "" : ", ") + route.name.region;
  return all;
}

} // namespace

result<std::vector<route_choice>> route_choices::routes_of(const std::string& environment,
                                                           boot_instant now, bool again) {
  if (!again) {
    const std::lock_guard lock{mutex_};
    const auto known = routes_.find(environment);
    if (known != routes_.end() && known->second.good_until > now)
      return known->second.all;
  }
  auto found = find_(environment);
  if (!found)
    return found;
  const std::lock_guard lock{mutex_};
  routes_[environment] = {*found, now + good_for};
  return found;
}

result<route_choice> route_choices::choose(const std::string& environment,
                                           const std::optional<std::string>& region,
                                           boot_instant now) {
  for (const bool again : {false, true}) {
    const auto routes = routes_of(environment, now, again);
    if (!routes)
      return routes.failure();
    if (!region && routes->size() == 1)
      return routes->front();
    if (!region && routes->size() > 1)
      return error{error_kind::invalid,
                   "is needed: the key's environment has several: " + regions_of(*routes)};
    const auto found =
        std::find_if(routes->begin(), routes->end(), [&region](const route_choice& one) {
          return region && one.name.region == *region;
        });
    if (found != routes->end())
      return *found;
    if (again)
      return error{error_kind::invalid,
                   routes->empty()
                       ? "the key's environment has no route: its nodes must be "
                         "configured with one and started once"
                       : "is none of the key's environment, which has: " + regions_of(*routes)};
  }
  return error{error_kind::internal, "not reached"};
}

result<stream_id> route_choices::stream_of(route_id route, project_id project,
                                           std::int16_t priority) {
  const std::tuple key{route.value(), project.value(), priority};
  {
    const std::lock_guard lock{mutex_};
    if (const auto known = streams_.find(key); known != streams_.end())
      return known->second;
  }
  auto found = stream_(route, project, priority);
  if (!found)
    return found;
  const std::lock_guard lock{mutex_};
  if (streams_.size() >= most_streams)
    streams_.clear(); // they are only asked for again
  streams_[key] = *found;
  return found;
}

} // namespace paceline
