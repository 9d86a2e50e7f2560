/// What GetAccount of SES v2 says about an account in a region. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/model/route_reading.hpp"

namespace paceline {

struct ses_account {
  quota_reading quota;
  bool sending_enabled = true;
  bool production_access = true; ///< false: the sandbox, which reaches verified recipients only
  std::string enforcement;       ///< HEALTHY, PROBATION, SHUTDOWN or something newer
};

/// Nothing where the answer has no SendQuota with its three figures.
std::optional<ses_account> read_account(std::string_view body);

} // namespace paceline
