/// The tables of the dispatch path in memory: due rows, claims, outcomes, as the SQL has them.
///
/// Pure: time comes as an argument. test/support/claim_conformance.hpp holds the properties that it
/// shares with the database.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/claims.hpp"
#include "storage/contents.hpp"
#include "storage/records.hpp"
#include "storage/streams.hpp"

namespace paceline::test {

struct fake_message {
  due_message row; ///< with the present version
  message_status status = message_status::queued;
  reason_code reason = reason_code::none;
  epoch_id epoch;
  std::int32_t group_no = 0;
};

class fake_table {
public:
  struct owned_shard {
    epoch_id epoch;
    std::int32_t group_no = 0;
    database_instant gate = database_instant::min();
  };

  route_reading route; ///< claims return it with their own `read_at`
  std::map<stream_id, due_stream> streams;
  std::set<stream_id> stopped;
  std::map<content_id, loaded_content> contents;
  std::set<std::string> suppressed;
  std::set<key_id> revoked;
  std::map<shard_id, owned_shard> shards;
  std::map<message_id, fake_message> messages;
  std::optional<std::int64_t> daily_left; ///< no limit without it

  /// A running stream of the route.
  void add_stream(stream_id stream, std::int16_t priority = 10);
  /// Due messages with ids one after the other, to one recipient each; returns their ids.
  std::vector<message_id> add(stream_id stream, int count, database_instant due,
                              const std::string& fields = "{}");

  std::vector<due_stream> due(database_instant now) const;
  std::vector<reserve_page> reserve(const reserve_request& request, database_instant now) const;
  claim_reply claim(const claim_request& request, database_instant now);
  void settle(const std::vector<attempt>& rows);
  void reject(const std::vector<preflight_failure>& failures);
  void postpone(const std::vector<attempt>& rows, database_instant until);
  std::int64_t draw_grant(std::int64_t wanted);
  record_reply record(const std::vector<outcome>& outcomes, database_instant now);

  std::int64_t count(message_status status) const;

private:
  void take(fake_message& message, const claim_request& request, claim_reply& reply);
  bool apply(const outcome& what, database_instant now);
  fake_message* queued(const attempt& of);
  void move(fake_message& message, message_status status);

  std::map<stream_id, std::set<std::pair<database_instant, message_id>>> queue_;
  std::int64_t last_id_ = 0;
};

} // namespace paceline::test
