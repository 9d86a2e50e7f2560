/// Messages for people and as JSON. Pure.
#pragma once

#include <string>
#include <vector>

#include "storage/messages.hpp"
#include "tools/paceline/json.hpp"

namespace paceline {

/// One line a message; `a@b +2` where there are more recipients.
std::string messages_text(const std::vector<message_view>& messages);

/// Everything about one. Addresses are shown in full: they are the operator's own data.
std::string message_text(const message_view& message);

void message_json(json_text& out, const message_view& message);

/// The words for `--status`, with commas.
std::string all_statuses();

} // namespace paceline
