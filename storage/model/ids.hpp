/// Identities. Each kind is its own type; a bare integer never stands for one.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// A typed 64-bit identity. `Tag` makes kinds incompatible; 0 means "none" where a field says so.
template <class Tag>
class strong_id {
public:
  constexpr strong_id() = default;
  constexpr explicit strong_id(std::int64_t value) : value_(value) {}
  constexpr std::int64_t value() const { return value_; }
  friend constexpr auto operator<=>(const strong_id&, const strong_id&) = default;

private:
  std::int64_t value_ = 0;
};

using message_id = strong_id<struct message_tag>;
/// A campaign's stream has the campaign's id.
using stream_id = strong_id<struct stream_tag>;
using content_id = strong_id<struct content_tag>;
using project_id = strong_id<struct project_tag>;
/// Row of `api_keys`.
using key_id = strong_id<struct key_tag>;
/// Row of `routes`.
using route_id = strong_id<struct route_tag>;
/// Row of `shards`: one index of one generation of a route.
using shard_id = strong_id<struct shard_tag>;
/// One run of one process; a restarted node is a new one.
using node_id = strong_id<struct node_tag>;
/// One ownership of one shard, from one sequence for all shards; 0 = never owned.
using epoch_id = strong_id<struct epoch_tag>;

/// `environment:region`. Both match [a-z0-9][a-z0-9-]*, at most 63 characters.
struct route_name {
  std::string environment;
  std::string region;

  std::string text() const { return environment + ":" + region; }
  /// Nothing if `text` is not of that form.
  static std::optional<route_name> parse(std::string_view text);
  friend auto operator<=>(const route_name&, const route_name&) = default;
};

/// `environment:region:index/count`, as logs, metrics and the CLI show a shard.
struct shard_name {
  route_name route;
  std::int32_t index = 0; ///< 0 <= index < count
  std::int32_t count = 1; ///< 1 to 1024

  std::string text() const;
  friend auto operator<=>(const shard_name&, const shard_name&) = default;
};

/// Makes time-ordered ids: 41 bits of milliseconds since 2024-01-01 UTC, 10 bits of lane, 12 bits
/// of sequence.
///
/// The lane comes from the database (`next_id_lane`), so that processes seldom share one; two that
/// do collide only within one millisecond, and the primary key then refuses the second with error
/// `data`. More than 4,096 ids in one millisecond borrow from the following one. Not thread-safe;
/// owned by whoever inserts.
class id_source {
public:
  /// `lane` 0 to 1023.
  explicit id_source(std::int32_t lane) : lane_(lane & 1023) {}

  /// The next id. `unix_ms` is the wall clock in milliseconds since 1970; going backwards is
  /// harmless.
  std::int64_t next(std::int64_t unix_ms);

private:
  std::int32_t lane_;
  std::int64_t last_ms_ = 0;
  std::int32_t sequence_ = 0;
};

} // namespace paceline

template <class Tag>
struct std::hash<paceline::strong_id<Tag>> {
  std::size_t operator()(const paceline::strong_id<Tag>& id) const noexcept {
    return std::hash<std::int64_t>{}(id.value());
  }
};
