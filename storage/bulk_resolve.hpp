/// Resolving the unknown messages of a campaign in bulk, page by page.
///
/// Each page is one transaction that moves only what is still acceptance_unknown once its rows are
/// locked. So a run may be killed, repeated, or run twice at once: a message is closed once and
/// sent again at most once. All functions block on the session's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/messages.hpp"
#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// Of the campaign, unknown for longer than `older_than` (above 0): no feedback has come since.
struct unknown_selection {
  stream_id campaign;
  nanoseconds older_than{0};
};

/// Up to 1,000 messages in the order of their ids, of at most 20,000 looked at.
struct unknown_page {
  std::int64_t messages = 0;
  std::optional<message_id> next; ///< `after` of the next page; nothing at the end
};

/// How many the next page would move. Locks nothing.
result<unknown_page> count_unknown_page(session&, const unknown_selection&, message_id after);

/// A run over all pages: what it does, who does it, and what it has done.
struct resolve_run {
  unknown_selection what;
  resolution how = resolution::accepted;
  std::string actor;
  std::int64_t changed = 0;
  std::int64_t audit_row = 0; ///< 0: nothing has changed yet
};

/// Resolves the next page and adds its count to `run`, whose one audit row has the sum. What is
/// sent again becomes direct mail of the campaign's project, with its priority; wake the route
/// afterwards. Errors: `not_found` for the campaign; after `in_doubt` begin anew with a fresh run,
/// which finds what is left.
/// Locks: messages in id order, then counters.
result<unknown_page> resolve_unknown_page(session&, id_source&, resolve_run& run, message_id after,
                                          std::int32_t writer);

} // namespace paceline
