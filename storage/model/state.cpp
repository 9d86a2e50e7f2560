#include "storage/model/state.hpp"

#include <array>
#include <utility>

namespace paceline {
namespace {

struct status_row {
  message_status status;
  std::string_view name;
  int rank;
};

constexpr std::array status_table{
    status_row{message_status::queued, "queued", 0},
    status_row{message_status::attempting, "attempting", 1},
    status_row{message_status::acceptance_unknown, "acceptance_unknown", 2},
    status_row{message_status::accepted, "accepted", 3},
    status_row{message_status::sent, "sent", 4},
    status_row{message_status::delayed, "delayed", 4},
    status_row{message_status::delivered, "delivered", 5},
    status_row{message_status::bounced, "bounced", 6},
    status_row{message_status::rejected, "rejected", 6},
    status_row{message_status::rendering_failed, "rendering_failed", 6},
    status_row{message_status::suppressed, "suppressed", 6},
    status_row{message_status::canceled, "canceled", 6},
    status_row{message_status::expired, "expired", 6},
    status_row{message_status::complained, "complained", 7},
};

constexpr std::array reason_names{
    std::string_view{""},
    std::string_view{"INTERRUPTED_PROVIDER_ATTEMPT"},
    std::string_view{"PROVIDER_TIMEOUT"},
    std::string_view{"PROVIDER_CONNECTION_LOST"},
    std::string_view{"PROVIDER_SERVER_ERROR"},
    std::string_view{"PROVIDER_REJECTED"},
    std::string_view{"PROVIDER_THROTTLED"},
    std::string_view{"PROVIDER_DAILY_QUOTA"},
    std::string_view{"PROVIDER_SENDING_PAUSED"},
    std::string_view{"SLOT_MISSED"},
    std::string_view{"OWNERSHIP_LOST"},
    std::string_view{"STREAM_STOPPED"},
    std::string_view{"NODE_STOPPING"},
    std::string_view{"RECIPIENT_SUPPRESSED"},
    std::string_view{"CAMPAIGN_CANCELED"},
    std::string_view{"MESSAGE_EXPIRED"},
    std::string_view{"RENDERING_ERROR"},
    std::string_view{"INVALID_RECIPIENT"},
    std::string_view{"OPERATOR_RESOLVED"},
    std::string_view{"OPERATOR_CANCELED"},
    std::string_view{"KEY_REVOKED"},
    std::string_view{"ROUTE_BRAKED"},
    std::string_view{"PROVIDER_UNREACHABLE"},
    std::string_view{"SENDER_NOT_ALLOWED"},
    std::string_view{"ROUTE_PAUSED"},
    std::string_view{"PROVIDER_UNAVAILABLE"},
    std::string_view{"PROVIDER_DOWN"},
    std::string_view{"BATCH_REFUSED"},
    std::string_view{"STREAM_REFUSED"},
    std::string_view{"SIGNATURE_REFUSED"},
};

} // namespace

int rank(message_status status) {
  return status_table.at(static_cast<std::size_t>(status)).rank;
}

std::string_view name(message_status status) {
  return status_table.at(static_cast<std::size_t>(status)).name;
}

std::optional<message_status> parse_status(std::string_view name) {
  for (const auto& row : status_table)
    if (row.name == name)
      return row.status;
  return std::nullopt;
}

std::string_view name(reason_code reason) {
  return reason_names.at(static_cast<std::size_t>(reason));
}

} // namespace paceline
