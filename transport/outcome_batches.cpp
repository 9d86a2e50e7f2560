#include "transport/outcome_batches.hpp"

#include <utility>

namespace paceline {
namespace {

/// The recorder's largest statement; more in one message would only be split again.
constexpr std::size_t full_batch = 100;

} // namespace

void outcome_batches::add(delivery outcome, boot_instant now) {
  auto shard = outcome.order.shard;
  auto& target = batches_[shard];
  if (target.outcomes.empty())
    departures_.push_back(departure{now + delay_, shard, target.number});
  target.outcomes.push_back(std::move(outcome));
  if (target.outcomes.size() >= full_batch)
    flush(shard, target);
}

std::optional<boot_instant> outcome_batches::next() const {
  if (departures_.empty())
    return std::nullopt;
  return departures_.front().due;
}

void outcome_batches::flush_due(boot_instant now) {
  drop_departed();
  while (!departures_.empty() && departures_.front().due <= now) {
    auto shard = departures_.front().shard;
    flush(shard, batches_[shard]);
  }
}

void outcome_batches::flush_all() {
  for (auto& [shard, what] : batches_)
    if (!what.outcomes.empty())
      flush(shard, what);
}

void outcome_batches::flush(shard_id shard, batch& what) {
  ++what.number;
  auto leaving = std::exchange(what.outcomes, {});
  drop_departed();
  sink_.deliver(shard, std::move(leaving));
}

void outcome_batches::drop_departed() {
  while (!departures_.empty()
         && batches_[departures_.front().shard].number != departures_.front().number)
    departures_.pop_front();
}

} // namespace paceline
