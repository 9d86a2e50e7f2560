#include "transport/providers/provider.hpp"

namespace paceline {

provider_answer no_free_connection() {
  provider_answer unsent;
  unsent.kind = outcome_kind::not_started;
  unsent.reason = reason_code::slot_missed;
  unsent.diagnostic = "no connection is free yet";
  return unsent;
}

void provider::ask_health(std::function<void(bool)> answered) {
  ask_quota([answered = std::move(answered)](const result<quota_reading>& quota) {
    answered(static_cast<bool>(quota));
  });
}

} // namespace paceline
