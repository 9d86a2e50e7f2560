#include "test/sim/starts.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace paceline::sim {

using namespace std::chrono_literals;

double worst_excess(const route_world& world, const std::vector<started>& starts, nanoseconds e) {
  double worst = -1e9;
  std::size_t end = 0;
  std::int64_t recipients = 0;
  std::map<std::int64_t, std::multiset<std::int32_t>> costs;
  std::int64_t allowance = 0;
  for (std::size_t begin = 0; begin < starts.size(); ++begin) {
    for (; end < starts.size() && starts[end].at < starts[begin].at + 1s; ++end) {
      recipients += starts[end].cost;
      auto& of = costs[starts[end].shard];
      allowance -= of.empty() ? 0 : *of.rbegin() - 1;
      of.insert(starts[end].cost);
      allowance += *of.rbegin() - 1;
    }
    const double target =
        world.largest_target(starts[begin].at - e, starts[begin].at + 1s + e).per_second();
    const double limit = (1.005 + 2e-9 * static_cast<double>(e.count())) * target + 2;
    worst = std::max(worst, static_cast<double>(recipients - allowance) - limit);
    auto& of = costs[starts[begin].shard];
    allowance -= *of.rbegin() - 1;
    of.erase(of.find(starts[begin].cost));
    allowance += of.empty() ? 0 : *of.rbegin() - 1;
    recipients -= starts[begin].cost;
  }
  return worst;
}

std::int64_t recipients_of(const std::vector<started>& starts) {
  std::int64_t sum = 0;
  for (const started& s : starts)
    sum += s.refused ? 0 : s.cost;
  return sum;
}

} // namespace paceline::sim
