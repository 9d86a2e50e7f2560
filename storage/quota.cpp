#include "storage/quota.hpp"

#include <algorithm>

#include "storage/array_literal.hpp"
#include "storage/clean_text.hpp"
#include "storage/route_row.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

error no_route(route_id route) {
  return {error_kind::not_found, "there is no route " + std::to_string(route.value())};
}

/// Runs an UPDATE of one route.
template <class... Args>
result<done> update_route(session& on, const query_text& query, route_id route,
                          const Args&... args) {
  const auto rows = on.run(query, route, args...);
  if (!rows)
    return rows.failure();
  return done{};
}

struct locked_route {
  std::optional<rate> max_send_rate; ///< what the provider said last, however old
};

result<locked_route> lock(session& on, route_id route) {
  const auto rows = on.run(sql::lock_route, route);
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return no_route(route);
  locked_route locked;
  if (!(*rows)[0]["max_rate_mhz"].is_null())
    locked.max_send_rate = rate::from_millihertz((*rows)[0]["max_rate_mhz"].as<std::int64_t>());
  return locked;
}

/// The route must be locked.
result<route_reading> append_grid(session& on, route_id route, node_id by, rate target,
                                  const grid_lead& lead, bool always) {
  const auto appended =
      on.run(sql::append_grid, route, target.millihertz(), by, lead.cluster, lead.held, always);
  if (!appended)
    return appended.failure();
  return read_route(on, route);
}

/// 429s that arrive together, or until a second after the newest grid began, come from the rate
/// before it and are no reason to go down again; nor is one at a rate the provider allows.
rate braked_target(const route_reading& before, const locked_route& locked) {
  const auto& newest = before.next ? *before.next : before.current;
  const bool is_braked = before.brake_left > nanoseconds{0};
  const bool is_recent = newest.start > before.read_at - std::chrono::seconds{1};
  const bool is_allowed = locked.max_send_rate && newest.target <= *locked.max_send_rate;
  const auto in_force = before.current.target;
  if ((is_braked && (is_recent || is_allowed)) || in_force.is_zero())
    return newest.target;
  const auto half = std::max<std::int64_t>(1, in_force.millihertz() / 2);
  return std::min(rate::from_millihertz(half), newest.target);
}

} // namespace

result<bool> begin_quota_refresh(session& on, route_id route, nanoseconds max_age) {
  const auto rows = on.run(sql::begin_quota_refresh, route, max_age);
  if (!rows)
    return rows.failure();
  return !rows->empty();
}

result<done> store_quota(session& on, route_id route, const quota_reading& quota) {
  return on.in_transaction([&](session& inside) -> result<done> {
    const auto locked = lock(inside, route);
    if (!locked)
      return locked.failure();
    return update_route(inside, sql::store_quota, route, quota.max_send_rate.millihertz(),
                        std::max<std::int64_t>(-1, quota.max_24h), quota.sent_24h);
  });
}

result<route_reading> set_target(session& on, route_id route, node_id by, rate target,
                                 const grid_lead& lead) {
  return on.in_transaction([&](session& inside) -> result<route_reading> {
    const auto locked = lock(inside, route);
    if (!locked)
      return locked.failure();
    return append_grid(inside, route, by, target, lead, false);
  });
}

result<route_reading> brake_route(session& on, route_id route, node_id by, nanoseconds brake,
                                  const grid_lead& lead) {
  return on.in_transaction([&](session& inside) -> result<route_reading> {
    const auto locked = lock(inside, route);
    if (!locked)
      return locked.failure();
    const auto before = read_route(inside, route);
    if (!before)
      return before;
    const auto braked = update_route(inside, sql::prolong_brake, route, brake);
    if (!braked)
      return braked.failure();
    return append_grid(inside, route, by, braked_target(*before, *locked), lead, true);
  });
}

result<std::int64_t> draw_grant(session& on, route_id route, std::int64_t wanted) {
  if (wanted <= 0)
    return std::int64_t{0};
  const auto rows = on.run(sql::draw_grant, route, wanted);
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return no_route(route);
  return (*rows)[0][0].as<std::int64_t>();
}

result<done> wait_for_daily_quota(session& on, route_id route, nanoseconds wait) {
  return wait_route(on, route, daily_quota_reason, wait);
}

result<done> wait_route(session& on, route_id route, std::string_view reason, nanoseconds wait) {
  return update_route(on, sql::wait_route, route, wait, clean_text(reason));
}

result<done> note_trouble(session& on, route_id route, std::string_view text) {
  if (const auto noted = on.run(sql::note_trouble, route, clean_text(text)); !noted)
    return noted.failure();
  return done{};
}

result<done> stop_route(session& on, route_id route, std::string_view reason) {
  return update_route(on, sql::stop_route, route, clean_text(reason));
}

result<route_reading> read_route(session& on, route_id route) {
  const auto rows = on.run(sql::read_route, route);
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return no_route(route);
  return reading_from((*rows)[0]);
}

result<std::vector<route_reading>> read_routes(session& on, const std::vector<route_id>& routes) {
  const auto rows = on.run(sql::read_routes, array_literal(routes));
  if (!rows)
    return rows.failure();
  std::vector<route_reading> readings;
  for (const auto& row : *rows)
    readings.push_back(reading_from(row));
  return readings;
}

result<std::optional<cached_quota>> read_quota(session& on, route_id route) {
  const auto rows = on.run(sql::read_quota, route);
  if (!rows)
    return rows.failure();
  if (rows->empty())
    return std::optional<cached_quota>{};
  const auto row = (*rows)[0];
  return std::optional{
      cached_quota{{rate::from_millihertz(row["max_rate_mhz"].as<std::int64_t>()),
                    row["max_24h"].as<std::int64_t>(), row["sent_24h"].as<std::int64_t>()},
                   nanoseconds{row["age_ns"].as<std::int64_t>()}}};
}

} // namespace paceline
