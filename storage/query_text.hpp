/// A statement of ours by its name.
///
/// All run-time SQL lives in `storage/sql/*.sql` in blocks that start with `-- name: claim_group`.
/// The build turns every block into a constant of this type in the generated header
/// `storage/sql/queries.hpp` (`paceline::sql::claim_group`, and `paceline::sql::all_queries`).
#pragma once

#include <string_view>

namespace paceline {

struct query_text {
  std::string_view name; ///< unique; also the name of the prepared statement and in metrics
  std::string_view text; ///< without comment lines and the closing semicolon
};

} // namespace paceline
