/// The live line of `send --wait`. Pure: readings come in with their time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "storage/campaigns.hpp"

namespace paceline {

/// Rates over the last two seconds of readings.
class progress_meter {
public:
  /// `at_s` rises; seconds on any steady clock.
  void read(double at_s, const campaign_view& campaign);

  /// Calls answered per second (accepted, rejected, unknown); nothing before there are two
  /// readings.
  std::optional<double> sent_per_second() const;
  /// Seconds until nothing is open at the present pace; nothing where it can't be told.
  std::optional<double> eta_s() const;

private:
  struct reading {
    double at_s = 0;
    std::int64_t sent = 0;
    std::int64_t left = 0;
  };
  std::optional<double> slope(std::int64_t reading::*what) const;
  std::deque<reading> readings_;
};

/// Recipients whose call was answered or is in doubt.
std::int64_t sent_of(const campaign_view& campaign);
/// Recipients that are not in a final state and not unknown.
std::int64_t left_of(const campaign_view& campaign);

/// One line without its end, at most `width` columns.
std::string progress_line(const campaign_view& campaign, const progress_meter& meter, int width);

} // namespace paceline
