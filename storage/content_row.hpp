/// Storing a content inside another repository's transaction. Internal to this floor.
#pragma once

#include "storage/contents.hpp"
#include "storage/session.hpp"

namespace paceline {

/// Inserts `what` with its hash under `what.id`. Error `data` where `headers` is not JSON.
result<done> insert_content(session&, project_id, const content& what);

} // namespace paceline
