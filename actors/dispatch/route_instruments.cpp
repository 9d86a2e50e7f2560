#include "actors/dispatch/route_instruments.hpp"

#include <limits>
#include <string_view>

#include "config/metric_list.hpp"
#include "storage/model/instants.hpp"

namespace paceline {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 4> state_names{"running", "waiting", "stopped", "paused"};
static_assert(static_cast<int>(route_state::paused) == 3);

} // namespace

route_instruments::route_instruments(metrics& into, const std::string& route)
    : skipped_in_prepare(into.get(metric::messages_skipped, {route, "prepare"})),
      skipped_in_claim(into.get(metric::messages_skipped, {route, "claim"})),
      group_size(into.get(metric::group_size, {route})),
      share_rate(into.get(metric::share_rate, {route})),
      grant_left(into.get(metric::daily_grant_left, {route})),
      shards(into.get(metric::shards, {route})),
      shards_owned(into.get(metric::shards_owned, {route})),
      target_rate(into.get(metric::target_rate, {route})),
      quota_rate(into.get(metric::quota_rate, {route})), braked(into.get(metric::braked, {route})),
      daily_quota(into.get(metric::daily_quota, {route})),
      daily_sent(into.get(metric::daily_sent, {route})),
      refused_rate(into.get(metric::refusals, {route, "rate"})),
      refused_day(into.get(metric::refusals, {route, "daily_quota"})),
      refused_account(into.get(metric::refusals, {route, "sending_paused"})) {
  for (std::size_t i = 0; i < states.size(); ++i)
    states[i] = into.get(metric::route_state, {route, state_names[i]});
}

void route_instruments::show(const route_reading& reading) const {
  // A grid that has been announced and not begun is not in force yet.
  const bool next_is_on = reading.next && reading.next->start <= reading.read_at;
  const auto& grid = next_is_on ? *reading.next : reading.current;
  shards.set(reading.shard_count);
  target_rate.set(grid.target.per_second());
  quota_rate.set(reading.quota.per_second());
  braked.set(reading.brake_left > nanoseconds{0} ? 1 : 0);
  for (std::size_t i = 0; i < states.size(); ++i)
    states[i].set(i == static_cast<std::size_t>(reading.state) ? 1 : 0);
}

void route_instruments::show(const quota_reading& quota) const {
  daily_quota.set(quota.max_24h < 0 ? std::numeric_limits<double>::infinity()
                                    : static_cast<double>(quota.max_24h));
  daily_sent.set(static_cast<double>(quota.sent_24h));
}

void route_instruments::count(refusal what) const {
  switch (what) {
  case refusal::none:
  case refusal::this_message:
  case refusal::stream:
    return;
  case refusal::rate:
    return refused_rate.add();
  case refusal::daily_quota:
    return refused_day.add();
  case refusal::sending_paused:
    return refused_account.add();
  }
}

shard_gauges::shard_gauges(const route_instruments& of)
    : share_(of.share_rate), grant_left_(of.grant_left) {}

void shard_gauges::show(rate share, std::optional<std::int64_t> grant_left) {
  share_.set(share.per_second());
  grant_left_.set(static_cast<double>(grant_left.value_or(0)));
}

} // namespace paceline
