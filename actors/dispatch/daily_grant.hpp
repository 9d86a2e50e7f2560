/// A shard's grant of the daily quota: a few seconds' worth drawn from the route's row ahead of
/// use, so that the row is not touched for every message. A crash forfeits what is left of it.
///
/// Pure; one per shard, owned by its policy.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/model/instants.hpp"
#include "storage/model/rate.hpp"

namespace paceline {

class daily_grant {
public:
  /// Without a daily limit (or before one is known) nothing is drawn and everything is allowed.
  void set_limited(bool limited) { limited_ = limited; }
  bool is_limited() const { return limited_; }

  /// How many recipients to ask the route for; 0: nothing to ask now. Asks when less than 1 s of
  /// `share` is left, up to 5 s of it and at least `largest_cost`. One request at a time: the
  /// caller says `on_asked`, then `on_granted` or `on_failed`.
  std::int64_t needed(database_instant now, rate share, std::int32_t largest_cost = 1) const;
  void on_asked() { asking_ = true; }
  /// `granted` may be less than asked for; with 0 the day's quota is used up and nothing is asked
  /// before `retry_at`.
  void on_granted(std::int64_t granted, database_instant retry_at);
  void on_failed() { asking_ = false; }

  /// Recipients that may still be claimed; empty: any number.
  std::optional<std::int64_t> left() const;
  /// Takes `cost`; false and unchanged if there is not enough.
  bool use(std::int64_t cost);
  /// Claimed but not sent.
  void give_back(std::int64_t cost);
  /// The provider says that the day's quota is used up: it has counted more than we have.
  void forfeit() { left_ = 0; }
  /// When to ask again while the day's quota is used up.
  database_instant retry_at() const { return retry_at_; }

private:
  bool limited_ = false;
  bool asking_ = false;
  std::int64_t left_ = 0;
  database_instant retry_at_ = database_instant::min();
};

} // namespace paceline
