#include "storage/bulk_resolve.hpp"

#include <chrono>
#include <vector>

#include "config/text.hpp"
#include "storage/clean_text.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"
#include "storage/streams.hpp"
#include "storage/wall_clock.hpp"

namespace paceline {
namespace {

std::int64_t microseconds_of(nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

std::string_view word(resolution how) {
  switch (how) {
  case resolution::accepted:
    return "accepted";
  case resolution::rejected:
    return "rejected";
  case resolution::send_again:
    return "send-again";
  }
  return {};
}

struct found_page {
  unknown_page page;
  std::string ids; ///< an array literal
};

result<found_page> find_page(session& on, const unknown_selection& what, message_id after) {
  if (what.older_than <= nanoseconds{0})
    return error{error_kind::invalid, "older_than: must be above 0"};
  const auto rows =
      on.run(sql::unknown_page, what.campaign, after, microseconds_of(what.older_than));
  if (!rows)
    return rows.failure();
  const auto row = (*rows)[0];
  found_page found{{row["messages"].as<std::int64_t>(), std::nullopt}, row["ids"].c_str()};
  if (!row["next"].is_null())
    found.page.next = message_id{row["next"].as<std::int64_t>()};
  return found;
}

/// Where a campaign's messages go when they are sent again.
struct second_way {
  route_id route;
  stream_id direct;
};

result<second_way> second_way_of(session& on, stream_id campaign) {
  const auto rows = on.run(sql::stream_origin, campaign);
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return error{error_kind::not_found, "there is no campaign " + std::to_string(campaign.value())};
  const auto row = (*rows)[0];
  const route_id route{row["route"].as<std::int64_t>()};
  const auto direct = direct_stream(on, route, project_id{row["project"].as<std::int64_t>()},
                                    row["priority"].as<std::int16_t>());
  if (!direct)
    return direct.failure();
  return second_way{route, *direct};
}

result<done> send_again(session& on, id_source& ids, const std::vector<std::string>& old,
                        const second_way& way) {
  std::vector<message_id> from, to;
  for (const auto& id : old) {
    from.emplace_back(std::stoll(id));
    to.emplace_back(ids.next(wall_clock_ms()));
  }
  const auto sent =
      on.run(sql::send_again_page, array_literal(from), array_literal(to), way.direct, way.route);
  if (!sent)
    return sent.failure();
  return done{};
}

result<std::int64_t> note_run(session& on, const resolve_run& run, std::int64_t changed) {
  const auto hours = std::chrono::duration<double, std::ratio<3600>>(run.what.older_than).count();
  const auto detail = "{\"as\":" + json_string(word(run.how)) + ",\"without_feedback_for_h\":"
                      + std::to_string(hours) + ",\"messages\":" + std::to_string(changed) + "}";
  const auto noted = on.run(sql::note_resolve_run, clean_text(run.actor),
                            std::to_string(run.what.campaign.value()), detail, run.audit_row);
  if (!noted)
    return noted.failure();
  return (*noted)[0][0].as<std::int64_t>();
}

/// What one transaction did.
struct page_done {
  std::int64_t changed = 0, audit_row = 0;
};

result<page_done> resolve_ids(session& on, id_source& ids, const resolve_run& run,
                              const std::string& wanted, const second_way& way,
                              std::int32_t writer) {
  const auto status =
      run.how == resolution::accepted ? message_status::accepted : message_status::rejected;
  const auto rows = on.run(sql::close_unknown_page, wanted, microseconds_of(run.what.older_than),
                           static_cast<int>(status), writer);
  if (!rows)
    return rows.failure();
  const auto closed = parse_text_array((*rows)[0]["ids"].c_str());
  page_done did{static_cast<std::int64_t>(closed.size()), run.audit_row};
  if (closed.empty())
    return did;
  if (run.how == resolution::send_again)
    if (const auto sent = send_again(on, ids, closed, way); !sent)
      return sent.failure();
  const auto noted = note_run(on, run, run.changed + did.changed);
  if (!noted)
    return noted.failure();
  did.audit_row = *noted;
  return did;
}

} // namespace

result<unknown_page> count_unknown_page(session& on, const unknown_selection& what,
                                        message_id after) {
  auto found = find_page(on, what, after);
  if (!found)
    return found.failure();
  return found->page;
}

result<unknown_page> resolve_unknown_page(session& on, id_source& ids, resolve_run& run,
                                          message_id after, std::int32_t writer) {
  second_way way;
  if (run.how == resolution::send_again) {
    const auto found = second_way_of(on, run.what.campaign);
    if (!found)
      return found.failure();
    way = *found;
  }
  auto found = find_page(on, run.what, after);
  if (!found)
    return found.failure();
  if (found->page.messages == 0)
    return found->page;
  const auto did = on.in_transaction([&](session& open) -> result<page_done> {
    return resolve_ids(open, ids, run, found->ids, way, writer);
  });
  if (!did)
    return did.failure();
  run.changed += did->changed;
  run.audit_row = did->audit_row;
  found->page.messages = did->changed;
  return found->page;
}

} // namespace paceline
