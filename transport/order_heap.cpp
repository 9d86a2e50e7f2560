#include "transport/order_heap.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paceline {

bool order_heap::later(const entry& left, const entry& right) {
  if (left.order.at != right.order.at)
    return left.order.at > right.order.at;
  return left.arrival > right.arrival;
}

void order_heap::push(send_order order) {
  entries_.push_back(entry{std::move(order), arrivals_++});
  std::push_heap(entries_.begin(), entries_.end(), later);
}

send_order order_heap::pop() {
  std::pop_heap(entries_.begin(), entries_.end(), later);
  auto order = std::move(entries_.back().order);
  entries_.pop_back();
  return order;
}

std::vector<send_order> order_heap::take_if(const std::function<bool(const send_order&)>& matches) {
  auto first = std::partition(entries_.begin(), entries_.end(),
                              [&matches](const entry& e) { return !matches(e.order); });
  std::sort(first, entries_.end(), [](const entry& a, const entry& b) { return later(b, a); });
  std::vector<send_order> taken;
  taken.reserve(static_cast<std::size_t>(std::distance(first, entries_.end())));
  for (auto i = first; i != entries_.end(); ++i)
    taken.push_back(std::move(i->order));
  entries_.erase(first, entries_.end());
  std::make_heap(entries_.begin(), entries_.end(), later);
  return taken;
}

} // namespace paceline
