#include "transport/providers/provider.hpp"

namespace paceline {

void provider::ask_health(std::function<void(bool)> answered) {
  ask_quota([answered = std::move(answered)](const std::optional<quota_reading>& quota) {
    answered(quota.has_value());
  });
}

} // namespace paceline
