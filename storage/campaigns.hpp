/// Campaigns: prepare (freeze the audience), expand, count, finish.
///
/// Preparing writes the campaign's `messages` rows, the frozen audience; expanding gives them their
/// state rows, a page at a time, which is what makes them due. "Not yet expanded" is `audience -
/// expanded`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/contents.hpp"
#include "storage/model/ids.hpp"
#include "storage/model/rate.hpp"
#include "storage/model/route_reading.hpp"
#include "storage/pool.hpp"

namespace paceline {

struct audience_member {
  std::string recipient; ///< normalised
  std::string fields;    ///< a JSON object
};

struct new_campaign {
  std::string name;
  route_id route;
  project_id project{1};
  content what;
  std::int16_t priority = 10;
  std::int32_t weight = 100;
  std::optional<rate> rate_cap;
};

/// Creates and starts a campaign in one transaction: content, stream, campaign in state `sending`,
/// the audience by COPY, and an audit row where `actor` is not empty. `next` yields members until
/// it returns nothing; an error from it rolls everything back. When this returns, campaign and
/// audience are committed, or nothing is. Error `invalid` for an empty audience.
result<stream_id> start_campaign(
    session&, id_source&, const new_campaign&,
    const std::function<result<std::optional<audience_member>>()>& next,
    std::string_view actor = {});

/// A campaign that still needs expanding, cancelling or finishing.
struct open_campaign {
  stream_id campaign;
  route_id route;
  bool canceled = false; ///< its open messages must become canceled
  bool expansion_done = false;
  std::int64_t open = 0; ///< queued and attempting, by the counters
};
result<std::vector<open_campaign>> open_campaigns(session&, const std::vector<route_id>&);

struct expand_reply {
  std::int64_t inserted = 0;
  bool moved = false; ///< it got on, perhaps only past other messages' ids
  bool done = false;
};
/// Gives the next `page` (1 to 20,000) messages their state rows: one statement, resumable, each
/// message once. Takes the stream FOR SHARE as the claim does, then the campaign's row. Buckets go
/// round robin. Nothing moves if paused.
result<expand_reply> expand_page(session&, stream_id, std::int32_t page, std::int32_t writer);

/// Up to `page` queued messages of a canceled campaign become canceled. Returns how many did; what
/// is attempting or held by a claim is left for a later call.
result<std::int64_t> cancel_page(session&, stream_id, std::int32_t page, std::int32_t writer);

/// The rule of finishing, in its own statement after the commit of what may have been last:
/// expansion done and no open message. A paused campaign can finish, too. True if this call
/// finished it.
result<bool> finish_campaign(session&, stream_id);

/// sending <-> paused, and cancel from any state but a final one (a draft, too). Locked against the
/// claim: once it returns, no later claim takes a message of the stream. A change writes an audit
/// row; already there is fine. `refused` names the state it is in; `not_found`.
result<done> pause_campaign(session&, stream_id, std::string_view actor);
result<done> resume_campaign(session&, stream_id, std::string_view actor);
result<done> cancel_campaign(session&, stream_id, std::string_view actor);

enum class stream_kind { direct, campaign };

/// The provider refuses what the stream's messages share: a campaign that is being sent becomes
/// paused, and people see `reason` (cleaned here) until it is resumed. Locked against the claim as
/// pause_campaign is. A campaign in another state, paused already for instance, stays as it is;
/// direct mail is never paused, so that the caller must reject those messages. Writes an audit row
/// with `actor`, where it paused. Returns what the stream is. Error `not_found`.
result<stream_kind> pause_stream_with_reason(session&, stream_id, std::string_view reason,
                                             std::string_view actor = "provider");

struct campaign_view {
  stream_id id;
  project_id project;
  std::string name, route, state;
  std::string state_reason; ///< why the provider paused it; empty: nobody did, or an operator
  route_state at_route = route_state::running; ///< of its route
  /// Why the route does not run, or how the provider of a running one fails; empty: all is well.
  std::string route_reason;
  std::int64_t audience = 0, expanded = 0;
  std::int64_t open = 0, unknown = 0, accepted = 0, rejected = 0, suppressed = 0, canceled = 0,
               expired = 0, throttled = 0;
  std::string requested_at, finished_at; ///< ISO 8601 UTC, empty if none
  std::optional<double> first_start_s;   ///< seconds from the request to the first start
  std::optional<double> last_start_s;
  std::optional<double> last_record_s; ///< ... to the last stored outcome
  std::optional<double> finished_s;
  double age_s = 0;             ///< ... to now
  double target_per_second = 0; ///< of its route, in force now
  std::int64_t in_flight = 0;   ///< of its route, as of the last renewals
};
result<campaign_view> show_campaign(session&, stream_id);

struct campaign_filter {
  std::optional<project_id> project;
  std::optional<std::string> environment;
  stream_id before;        ///< page: ids below this; none = from the newest
  std::int32_t limit = 50; ///< 1 to 1,000
};
/// Newest first. A page shorter than its limit is the last.
result<std::vector<campaign_view>> list_campaigns(session&, const campaign_filter&);

/// Starts per second from the first second with a start to the last, gaps as zeros.
struct curve {
  std::int64_t first_second = 0; ///< Unix time
  std::vector<std::int64_t> starts;
};
result<curve> dispatch_curve(session&, stream_id);

} // namespace paceline
