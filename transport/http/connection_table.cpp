#include "transport/http/connection_table.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <numeric>

namespace paceline {
namespace {

bool watch(int epoll, int how, int descriptor, std::uint64_t which, std::uint32_t events) {
  epoll_event event{};
  event.events = events | EPOLLONESHOT;
  event.data.u64 = which;
  return ::epoll_ctl(epoll, how, descriptor, &event) == 0;
}

} // namespace

connection_table::connection_table(std::size_t most, int epoll)
    : epoll_(epoll), slots_(most), free_(most) {
  std::iota(free_.rbegin(), free_.rend(), 0u);
}

bool connection_table::add(std::unique_ptr<connection> made) {
  std::uint32_t index = 0;
  {
    std::lock_guard lock(free_mutex_);
    if (free_.empty())
      return false;
    index = free_.back();
    free_.pop_back();
  }
  auto& slot = slots_[index];
  {
    std::lock_guard lock(slot.mutex);
    auto descriptor = made->descriptor();
    auto which = key{slot.generation} << 32 | index;
    slot.held = std::move(made);
    slot.is_parked = true;
    if (watch(epoll_, EPOLL_CTL_ADD, descriptor, which, EPOLLIN))
      return true;
    slot.is_parked = false;
    slot.held.reset();
  }
  std::lock_guard lock(free_mutex_);
  free_.push_back(index);
  return false;
}

connection* connection_table::claim(key which) {
  auto& slot = at(which);
  std::lock_guard lock(slot.mutex);
  if (!is_current(slot, which) || !slot.is_parked)
    return nullptr;
  slot.is_parked = false;
  return slot.held.get();
}

void connection_table::park(key which, std::uint32_t events) {
  auto& slot = at(which);
  std::lock_guard lock(slot.mutex);
  slot.is_parked = true;
  watch(epoll_, EPOLL_CTL_MOD, slot.held->descriptor(), which, events);
}

void connection_table::release(key which) {
  auto& slot = at(which);
  std::unique_ptr<connection> ended;
  {
    std::lock_guard lock(slot.mutex);
    ended = std::move(slot.held);
    slot.is_parked = false;
    ++slot.generation;
  }
  ended.reset();
  std::lock_guard lock(free_mutex_);
  free_.push_back(static_cast<std::uint32_t>(which));
}

void connection_table::claim_where(const std::function<bool(const connection&)>& which,
                                   const std::function<void(key, connection&)>& then) {
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    auto& slot = slots_[index];
    connection* claimed = nullptr;
    key name = index;
    {
      std::lock_guard lock(slot.mutex);
      if (!slot.is_parked || !which(*slot.held))
        continue;
      slot.is_parked = false;
      claimed = slot.held.get();
      name |= key{slot.generation} << 32;
    }
    then(name, *claimed);
  }
}

void connection_table::cut_claimed() {
  for (auto& slot : slots_) {
    std::lock_guard lock(slot.mutex);
    if (slot.held && !slot.is_parked)
      ::shutdown(slot.held->descriptor(), SHUT_RDWR);
  }
}

std::size_t connection_table::size() const {
  std::lock_guard lock(free_mutex_);
  return slots_.size() - free_.size();
}

} // namespace paceline
