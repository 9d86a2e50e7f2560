#include "transport/timer_heap.hpp"

#include <algorithm>
#include <utility>

namespace paceline {

bool timer_heap::later(const entry& left, const entry& right) {
  if (left.when != right.when)
    return left.when > right.when;
  return left.arrival > right.arrival;
}

void timer_heap::add(boot_instant when, std::function<void()> task) {
  entries_.push_back(entry{when, arrivals_++, std::move(task)});
  std::push_heap(entries_.begin(), entries_.end(), later);
}

std::optional<boot_instant> timer_heap::next() const {
  if (entries_.empty())
    return std::nullopt;
  return entries_.front().when;
}

std::size_t timer_heap::run_due(boot_instant now, std::size_t most) {
  std::size_t ran = 0;
  while (ran < most && !entries_.empty() && entries_.front().when <= now) {
    std::pop_heap(entries_.begin(), entries_.end(), later);
    auto task = std::move(entries_.back().task);
    entries_.pop_back(); // before the task runs: it may add others
    ++ran;
    task();
  }
  return ran;
}

} // namespace paceline
