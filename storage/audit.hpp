/// The trail of what operators and keys have changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/pool.hpp"

namespace paceline {

/// One row, inside the caller's transaction if one is open. `detail` is a JSON object without
/// secrets, bodies or whole addresses.
result<done> write_audit(session&, std::string_view actor, std::string_view action,
                         std::string_view subject, std::string_view detail = "{}");

struct audit_entry {
  std::int64_t id = 0;
  std::string at, actor, action, subject, detail;
};
/// Newest first, those before `before` (0: from the newest), 1 to 1,000.
result<std::vector<audit_entry>> list_audit(session&, std::int64_t before, std::int32_t limit);

} // namespace paceline
