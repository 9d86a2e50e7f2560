#include "actors/dispatch/daily_grant.hpp"

#include <algorithm>

namespace paceline {

std::int64_t daily_grant::needed(database_instant now, rate share,
                                 std::int32_t largest_cost) const {
  if (!limited_ || asking_ || now < retry_at_)
    return 0;
  const std::int64_t second = (share.millihertz() + 999) / 1000;
  const std::int64_t low = std::max<std::int64_t>(second, largest_cost);
  if (left_ >= low)
    return 0;
  return std::max<std::int64_t>(second * 5, largest_cost) - left_;
}

void daily_grant::on_granted(std::int64_t granted, database_instant retry_at) {
  asking_ = false;
  left_ += std::max<std::int64_t>(0, granted);
  retry_at_ = granted > 0 ? database_instant::min() : retry_at;
}

std::optional<std::int64_t> daily_grant::left() const {
  if (!limited_)
    return std::nullopt;
  return left_;
}

bool daily_grant::use(std::int64_t cost) {
  if (!limited_)
    return true;
  if (left_ < cost)
    return false;
  left_ -= cost;
  return true;
}

void daily_grant::give_back(std::int64_t cost) {
  if (limited_)
    left_ += cost;
}

} // namespace paceline
