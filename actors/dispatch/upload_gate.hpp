/// Keeps large mail below the provider's bandwidth: Amazon SES throttles messages over 10 MB to
/// 40 MB a second (https://docs.aws.amazon.com/ses/latest/dg/quotas.html, "message size").
///
/// Each large message books the time that its octets take; one whose time has not come is put off
/// until then and keeps its booking. Small mail passes freely.
///
/// Pure; one per shard, with its part of the bandwidth, owned by the shard's actor. After a restart
/// the bookings begin anew.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"

namespace paceline {

struct upload_limit {
  std::size_t large_from = 10'000'000; ///< octets of a message as it goes out
  std::int64_t octets_per_second = 0;  ///< of the route; 0: no limit
};

class upload_gate {
public:
  /// The shard is one of `shards` (>= 1).
  upload_gate(upload_limit limit, std::int32_t shards) : limit_(limit), shards_(shards) {}

  /// How long the message must wait; 0: it may go, and its booking is used up.
  nanoseconds wait_for(message_id id, std::size_t octets, database_instant now);

private:
  void forget_missed(database_instant now);

  upload_limit limit_;
  std::int32_t shards_;
  database_instant free_at_ = database_instant::min();
  std::unordered_map<message_id, database_instant> booked_;
};

} // namespace paceline
