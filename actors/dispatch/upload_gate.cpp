#include "actors/dispatch/upload_gate.hpp"

#include <algorithm>

namespace paceline {
namespace {

/// Bookings nobody came for (canceled, sent by another shard) are forgotten this late.
constexpr nanoseconds patience = std::chrono::minutes{10};
constexpr std::size_t most_bookings = 10'000;

} // namespace

nanoseconds upload_gate::wait_for(message_id id, std::size_t octets, database_instant now) {
  if (limit_.octets_per_second <= 0 || octets < limit_.large_from)
    return nanoseconds{0};
  auto booking = booked_.find(id);
  if (booking == booked_.end()) {
    forget_missed(now);
    const auto length = std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>{
        static_cast<double>(octets) * shards_ / static_cast<double>(limit_.octets_per_second)});
    const auto at = std::max(now, free_at_);
    free_at_ = at + length;
    booking = booked_.emplace(id, at).first;
  }
  if (booking->second > now)
    return booking->second - now;
  booked_.erase(booking);
  return nanoseconds{0};
}

void upload_gate::forget_missed(database_instant now) {
  std::erase_if(booked_, [now](const auto& booking) { return booking.second + patience < now; });
  if (booked_.size() >= most_bookings)
    booked_.clear(); // they book again, behind those who come first
}

} // namespace paceline
