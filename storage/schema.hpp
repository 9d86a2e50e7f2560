/// Migrations: in order, each in its own transaction, under an exclusive table lock, checksummed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/pool.hpp"

namespace paceline {

struct migration_step {
  int number = 0;
  std::string name;
  bool applied_now = false; ///< false: it was there already
};

/// Applies what is missing; use a direct connection. Safe from two nodes at once: the second waits,
/// then finds the work done. Refuses (`refused`) when a landed migration's checksum differs or the
/// database is newer than this program. Also sets role-level settings for this role in this
/// database (`plan_cache_mode = force_generic_plan`).
result<std::vector<migration_step>> migrate(session&,
                                            const std::function<void(std::string_view)>& progress);

/// `refused` with what to do when a migration of this program is missing or another one landed in
/// its place. A newer database is fine: migrations expand first and contract a version later.
result<done> check_schema(session&);

} // namespace paceline
