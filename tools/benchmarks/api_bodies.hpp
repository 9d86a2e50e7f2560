/// Bodies as the benches of the API send them. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace paceline::bench {

/// One plain transactional mail.
std::string send_body(std::int64_t number);

/// A shared content and that many recipients from number `first` on, each with two fields.
std::string batch_body(std::int64_t first, std::int64_t recipients);

} // namespace paceline::bench
