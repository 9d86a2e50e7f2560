/// Storing a content inside another repository's transaction. Internal to this floor.
#pragma once

#include "storage/contents.hpp"
#include "storage/session.hpp"

namespace paceline {

/// Inserts `what` with its hash and attachments under `what.id`, by several statements. Error
/// `data` where `headers` or `defaults` is not JSON.
result<done> insert_content(session&, project_id, const content& what);

} // namespace paceline
