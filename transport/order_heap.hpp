/// Orders that wait for their slots: a binary min-heap by slot time; equal slots leave in the order
/// in which they came. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "transport/courier.hpp"

namespace paceline {

class order_heap {
public:
  void push(send_order order);
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// The order with the earliest slot; the heap must not be empty.
  const send_order& front() const { return entries_.front().order; }
  send_order pop();

  /// Takes out all orders for which `matches` says so, by slot. Looks at every order: rare events
  /// on at most a few thousand of them.
  std::vector<send_order> take_if(const std::function<bool(const send_order&)>& matches);

private:
  struct entry {
    send_order order;
    std::uint64_t arrival = 0;
  };
  static bool later(const entry& left, const entry& right);

  std::vector<entry> entries_;
  std::uint64_t arrivals_ = 0;
};

} // namespace paceline
