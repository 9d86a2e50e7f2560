/// Routes and direct streams by what a request says: asked for once, remembered.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "storage/model/instants.hpp"
#include "storage/routes.hpp"

namespace paceline {

/// Thread-safe. An environment's routes are asked for again after a minute, and at once where a
/// request names one that is not there.
class route_choices {
public:
  static constexpr nanoseconds good_for = std::chrono::seconds{60};
  static constexpr std::size_t most_streams = 10'000;

  using routes_function = std::function<result<std::vector<route_choice>>(const std::string&)>;
  using stream_function =
      std::function<result<stream_id>(route_id, project_id, std::int16_t priority)>;
  route_choices(routes_function find, stream_function stream)
      : find_(std::move(find)), stream_(std::move(stream)) {}

  /// The route of this region, or the environment's only one. Error `invalid`: what to write as
  /// region; others: a retry helps.
  result<route_choice> choose(const std::string& environment,
                              const std::optional<std::string>& region, boot_instant now);

  /// The stream of a project's direct mail of this priority on a route.
  result<stream_id> stream_of(route_id, project_id, std::int16_t priority);

private:
  struct known_routes {
    std::vector<route_choice> all;
    boot_instant good_until{};
  };
  result<std::vector<route_choice>> routes_of(const std::string& environment, boot_instant now,
                                              bool again);

  const routes_function find_;
  const stream_function stream_;
  std::mutex mutex_;
  std::map<std::string, known_routes> routes_; ///< environments are few
  std::map<std::tuple<std::int64_t, std::int64_t, std::int16_t>, stream_id> streams_;
};

} // namespace paceline
