#include "storage/campaigns.hpp"

#include <chrono>
#include <limits>

#include "config/text.hpp"
#include "storage/audit.hpp"
#include "storage/clean_text.hpp"
#include "storage/content_row.hpp"
#include "storage/route_row.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"
#include "storage/wall_clock.hpp"

namespace paceline {
namespace {

constexpr std::int32_t largest_page = 20'000;

/// What the COPY of an audience gave.
struct audience {
  std::int64_t size = 0;
  message_id first, last;
};

using member_source = std::function<result<std::optional<audience_member>>()>;

result<audience> copy_audience(session& on, id_source& ids, const new_campaign& campaign,
                               stream_id stream, content_id what, const member_source& next) {
  auto copy = on.copy_in("messages",
                         {"id", "project", "stream", "content", "ordinal", "recipients", "fields"});
  if (!copy)
    return copy.failure();
  audience all;
  while (true) {
    const auto member = next();
    if (!member)
      return member.failure();
    if (!*member)
      break;
    all.last = message_id{ids.next(wall_clock_ms())};
    if (all.size == 0)
      all.first = all.last;
    const std::vector<std::string> recipients{(*member)->recipient};
    const auto written = copy->write(all.last, campaign.project, stream, what, ++all.size,
                                     text_array_literal(recipients), (*member)->fields);
    if (!written)
      return written.failure();
  }
  if (auto ended = copy->complete(); !ended)
    return ended.failure();
  if (all.size == 0)
    return error{error_kind::invalid, "audience: it has no recipient"};
  return all;
}

result<stream_id> insert_all(session& on, id_source& ids, const new_campaign& campaign,
                             const member_source& next) {
  const auto begun = std::chrono::steady_clock::now();
  const stream_id id{ids.next(wall_clock_ms())};
  content what = campaign.what;
  what.id = content_id{ids.next(wall_clock_ms())};
  if (auto stored = insert_content(on, campaign.project, what); !stored)
    return stored.failure();
  std::optional<std::int64_t> cap;
  if (campaign.rate_cap)
    cap = campaign.rate_cap->millihertz();
  const auto stream = on.run(sql::insert_campaign_stream, id, campaign.project, campaign.route,
                             campaign.priority, campaign.weight, cap);
  if (!stream)
    return stream.failure();
  const auto members = copy_audience(on, ids, campaign, id, what.id, next);
  if (!members)
    return members.failure();
  const auto took = std::chrono::steady_clock::now() - begun;
  const auto inserted =
      on.run(sql::insert_campaign, id, what.id, campaign.name, members->size, members->first,
             members->last, std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  if (!inserted)
    return inserted.failure();
  return id;
}

/// Moves the campaign to `to` if it is in one of `from`; already there is fine.
result<done> change_state(session& on, stream_id campaign, const std::vector<std::string>& from,
                          const std::string& to, std::string_view action, std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<done> {
    const auto locked = open.run(sql::lock_campaign, campaign);
    if (!locked)
      return locked.failure();
    if (locked->empty())
      return error{error_kind::not_found,
                   "there is no campaign " + std::to_string(campaign.value())};
    const std::string state = (*locked)[0][0].c_str();
    if (state == to)
      return done{};
    for (const auto& allowed : from)
      if (state == allowed) {
        if (const auto changed = open.run(sql::set_campaign_state, campaign, to); !changed)
          return changed.failure();
        return write_audit(open, actor, action, std::to_string(campaign.value()));
      }
    return error{error_kind::refused,
                 "campaign " + std::to_string(campaign.value()) + " is " + state};
  });
}

std::optional<double> read_seconds(const pqxx::field& field) {
  if (field.is_null())
    return std::nullopt;
  return field.as<double>();
}

campaign_view read_view(const pqxx::row& row) {
  campaign_view view;
  view.id = stream_id{row["id"].as<std::int64_t>()};
  view.project = project_id{row["project"].as<std::int64_t>()};
  view.name = row["name"].c_str();
  view.route = row["route"].c_str();
  view.state = row["state"].c_str();
  view.audience = row["audience"].as<std::int64_t>();
  view.expanded = row["expanded"].as<std::int64_t>();
  view.open = row["open"].as<std::int64_t>();
  view.unknown = row["unknown"].as<std::int64_t>();
  view.accepted = row["accepted"].as<std::int64_t>();
  view.rejected = row["rejected"].as<std::int64_t>();
  view.suppressed = row["suppressed"].as<std::int64_t>();
  view.canceled = row["canceled"].as<std::int64_t>();
  view.expired = row["expired"].as<std::int64_t>();
  view.throttled = row["throttled"].as<std::int64_t>();
  // What was never expanded has no row to be canceled: nobody gets it all the same.
  if (view.state == "canceled") {
    view.canceled += view.audience - view.expanded;
    view.expanded = view.audience;
  }
  view.requested_at = row["requested_at"].c_str();
  view.finished_at = row["finished_at"].c_str();
  view.first_start_s = read_seconds(row["first_start_s"]);
  view.last_start_s = read_seconds(row["last_start_s"]);
  view.last_record_s = read_seconds(row["last_record_s"]);
  view.finished_s = read_seconds(row["finished_s"]);
  view.age_s = row["age_s"].as<double>();
  view.target_per_second = rate::from_millihertz(row["target_mhz"].as<std::int64_t>()).per_second();
  view.in_flight = row["in_flight"].as<std::int64_t>();
  view.state_reason = row["state_reason"].c_str();
  const std::string_view stored = row["route_state"].c_str();
  view.at_route = route_state_from(stored, nanoseconds{row["waiting_left_ns"].as<std::int64_t>()});
  // A wait that is over leaves its reason behind until somebody writes the row.
  if (view.at_route != route_state::running || stored == "running")
    view.route_reason = row["route_reason"].c_str();
  return view;
}

struct id_range {
  std::int64_t least = 0, below = std::numeric_limits<std::int64_t>::max();
};

result<std::vector<campaign_view>> find_campaigns(session& on, id_range ids,
                                                  const campaign_filter& filter) {
  const auto rows = on.run(sql::find_campaigns, ids.least, ids.below, filter.project,
                           filter.environment, filter.limit);
  if (!rows)
    return rows.failure();
  std::vector<campaign_view> all;
  for (const auto& row : *rows)
    all.push_back(read_view(row));
  return all;
}

} // namespace

result<stream_id> start_campaign(session& on, id_source& ids, const new_campaign& campaign,
                                 const member_source& next, std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<stream_id> {
    // A million recipients take longer than a statement usually may.
    if (const auto lifted = open.run(sql::lift_timeouts); !lifted)
      return lifted.failure();
    auto started = insert_all(open, ids, campaign, next);
    if (started && !actor.empty())
      if (const auto noted =
              write_audit(open, actor, "campaign.send", std::to_string(started->value()));
          !noted)
        return noted.failure();
    return started;
  });
}

result<std::vector<open_campaign>> open_campaigns(session& on,
                                                  const std::vector<route_id>& routes) {
  const auto rows = on.run(sql::open_campaigns, array_literal(routes));
  if (!rows)
    return rows.failure();
  std::vector<open_campaign> all;
  for (const auto& row : *rows)
    all.push_back({stream_id{row[0].as<std::int64_t>()}, route_id{row[1].as<std::int64_t>()},
                   row[2].as<bool>(), row[3].as<bool>(), row[4].as<std::int64_t>()});
  return all;
}

result<expand_reply> expand_page(session& on, stream_id campaign, std::int32_t page,
                                 std::int32_t writer) {
  if (page < 1 || page > largest_page)
    return error{error_kind::invalid, "page: 1 to 20000 are allowed"};
  const auto rows = on.run(sql::expand_page, campaign, page, writer);
  if (!rows)
    return rows.failure();
  return expand_reply{(*rows)[0]["inserted"].as<std::int64_t>(), (*rows)[0]["moved"].as<bool>(),
                      (*rows)[0]["done"].as<bool>()};
}

result<std::int64_t> cancel_page(session& on, stream_id campaign, std::int32_t page,
                                 std::int32_t writer) {
  const auto rows = on.run(sql::cancel_page, campaign, page, writer);
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<std::int64_t>();
}

result<bool> finish_campaign(session& on, stream_id campaign) {
  const auto ready = on.run(sql::campaign_may_finish, campaign);
  if (!ready)
    return ready.failure();
  if (ready->empty())
    return false;
  return on.in_transaction([&](session& open) -> result<bool> {
    const auto locked = open.run(sql::lock_campaign, campaign);
    if (!locked)
      return locked.failure();
    const auto finished = open.run(sql::finish_campaign, campaign);
    if (!finished)
      return finished.failure();
    return !finished->empty();
  });
}

result<done> pause_campaign(session& on, stream_id campaign, std::string_view actor) {
  return change_state(on, campaign, {"sending"}, "paused", "campaign.pause", actor);
}

result<done> resume_campaign(session& on, stream_id campaign, std::string_view actor) {
  return change_state(on, campaign, {"paused"}, "sending", "campaign.resume", actor);
}

result<done> cancel_campaign(session& on, stream_id campaign, std::string_view actor) {
  return change_state(on, campaign, {"draft", "prepared", "scheduled", "sending", "paused"},
                      "canceled", "campaign.cancel", actor);
}

result<stream_kind> pause_stream_with_reason(session& on, stream_id stream, std::string_view reason,
                                             std::string_view actor) {
  const auto kind = on.run(sql::stream_kind, stream);
  if (!kind)
    return kind.failure();
  if (kind->empty())
    return error{error_kind::not_found, "there is no stream " + std::to_string(stream.value())};
  if (std::string_view{(*kind)[0][0].c_str()} == "direct")
    return stream_kind::direct;
  return on.in_transaction([&](session& open) -> result<stream_kind> {
    const auto locked = open.run(sql::lock_campaign, stream);
    if (!locked)
      return locked.failure();
    const auto text = clean_text(reason);
    const auto paused = open.run(sql::pause_sending, stream, text);
    if (!paused)
      return paused.failure();
    if (paused->empty())
      return stream_kind::campaign;
    const auto noted = write_audit(open, actor, "campaign.pause", std::to_string(stream.value()),
                                   "{\"reason\":" + json_string(text) + "}");
    return noted ? result<stream_kind>{stream_kind::campaign} : noted.failure();
  });
}

result<campaign_view> show_campaign(session& on, stream_id campaign) {
  const id_range only{campaign.value(), campaign.value() + 1};
  const auto found = find_campaigns(on, only, {});
  if (!found)
    return found.failure();
  if (found->empty())
    return error{error_kind::not_found, "there is no campaign " + std::to_string(campaign.value())};
  return found->front();
}

result<std::vector<campaign_view>> list_campaigns(session& on, const campaign_filter& filter) {
  if (filter.limit < 1 || filter.limit > 1000)
    return error{error_kind::invalid, "limit: 1 to 1000 are allowed"};
  id_range ids;
  if (filter.before.value() != 0)
    ids.below = filter.before.value();
  return find_campaigns(on, ids, filter);
}

result<curve> dispatch_curve(session& on, stream_id stream) {
  const auto rows = on.run(sql::dispatch_curve, stream);
  if (!rows)
    return rows.failure();
  curve drawn;
  for (const auto& row : *rows) {
    const auto second = row[0].as<std::int64_t>();
    if (drawn.starts.empty())
      drawn.first_second = second;
    drawn.starts.resize(static_cast<std::size_t>(second - drawn.first_second) + 1);
    drawn.starts.back() = row[1].as<std::int64_t>();
  }
  return drawn;
}

} // namespace paceline
