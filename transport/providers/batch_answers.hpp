/// What an answer to a batch means for its messages. Pure; the rules stand in `batch.hpp`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/outgoing/http_client.hpp"
#include "transport/providers/provider.hpp"
#include "transport/providers/rate_headers.hpp"

namespace paceline {

/// One answer for each of `count` messages, in their order. `now`: seconds since 1970, for dates in
/// Retry-After; the answer's own Date is used in its place where it has one.
std::vector<provider_answer> batch_answers(const http_result& from, std::size_t count,
                                           std::int64_t now);

/// Whether this answer to an empty batch comes from a provider that would take messages.
bool is_healthy_answer(const http_result& from);

rate_headers rate_headers_of(const http_result& from);

} // namespace paceline
