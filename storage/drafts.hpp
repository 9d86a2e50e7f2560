/// Campaigns that are put together by several calls: draft, recipients page by page, send.
///
/// A draft's stream is paused until it is sent. Its `messages` rows are written as the pages come,
/// so that other messages' ids lie between them; an address is taken once per campaign, which
/// `campaign_recipients` remembers until the draft is sent or canceled.
/// All functions block on the session's connection and may be repeated after any error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/campaigns.hpp"
#include "storage/intake.hpp"

namespace paceline {

struct new_draft {
  stream_id id; ///< fresh, so that the answer to remember can name it
  project_id project{1};
  key_id key; ///< none: an operator. Its messages carry it
  std::string name;
  route_id route;
  content what;               ///< its id is made here
  std::int16_t priority = 10; ///< 0 to 100
  std::int32_t weight = 100;  ///< 1 to 1,000
  std::optional<rate> rate_cap;
};

struct draft_reply {
  stream_id campaign; ///< where stored
  intake_reply once;  ///< `key_ended` where the API key has ended; nothing is stored then
};
/// One transaction: key and idempotency first, then content, stream and campaign in state `draft`.
/// Repeated after an error, a draft that is there under this id counts as stored. Error `data`.
result<draft_reply> create_draft(session&, id_source&, const new_draft&,
                                 std::string_view environment, const std::optional<idempotency>&,
                                 std::string_view actor);

struct append_reply {
  std::int64_t added = 0;
  std::int64_t duplicates = 0; ///< of the campaign's addresses, or within this page
  std::int64_t audience = 0;   ///< now
};
/// 1 to 5,000 members. A repeated page adds nothing. Errors: `not_found`, `refused` where it is no
/// draft any more, `invalid` for the size of the page, `data`.
/// Locks: the stream, then the campaign.
result<append_reply> append_recipients(session&, id_source&, stream_id,
                                       const std::vector<audience_member>&);

/// draft -> sending; sending already is fine. Errors: `not_found`, `refused` for another state and
/// for a draft without recipients. Writes an audit row.
result<done> send_draft(session&, stream_id, std::string_view actor);

/// Forgets the addresses of up to `page` (1 to 20,000) members of one campaign that is no draft any
/// more. Returns how many; 0: nothing is left to forget.
result<std::int64_t> forget_recipients(session&, std::int32_t page);

} // namespace paceline
