#include "transport/api/outstanding_tally.hpp"

#include <utility>

namespace paceline {

bool outstanding_tally::reserve(std::int64_t count, std::int64_t most) {
  if (estimate() + count > most)
    return false;
  storing_ += count;
  return true;
}

void outstanding_tally::settle(std::int64_t count) {
  storing_ -= count;
  settled_ += count;
}

void outstanding_tally::begin_asking(boot_instant now) {
  asking_ = true;
  asked_at_ = now;
  covered_ += std::exchange(settled_, 0);
}

void outstanding_tally::end_asking(std::int64_t answer) {
  asking_ = false;
  known_ = true;
  base_ = answer;
  covered_ = 0;
}

void outstanding_tally::fail_asking() {
  asking_ = false;
  settled_ += std::exchange(covered_, 0);
}

} // namespace paceline
