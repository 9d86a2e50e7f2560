/// Looking up what was answered under an idempotency key, without taking part in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/intake.hpp"

namespace paceline {

/// `replayed` or `other_body` where a request under this key was stored, as far as this moment
/// shows; nothing otherwise. For whoever would refuse a new request but must not refuse the
/// repetition of an old one. Blocks; may be repeated.
result<std::optional<intake_reply>> find_given_answer(
    session&, project_id, std::string_view environment, std::string_view key,
    const std::array<std::uint8_t, 32>& body_hash);

} // namespace paceline
