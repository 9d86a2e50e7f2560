#include "transport/providers/provider.hpp"

namespace paceline {

void provider::ask_health(std::function<void(bool)> answered) {
  ask_quota([answered = std::move(answered)](const result<quota_reading>& quota) {
    answered(static_cast<bool>(quota));
  });
}

} // namespace paceline
