#include "actors/dispatch/shard_policy.hpp"

#include <algorithm>

namespace paceline {
namespace {

/// The spacing of one shard's slots.
nanoseconds own_period(rate target, shard_position position) {
  return target.is_zero() ? nanoseconds{0} : target.period() * position.count;
}

} // namespace

shard_policy::shard_policy(shard_position position, policy_settings settings)
    : position_(position), settings_(settings), queue_(position.count),
      reservation_(position.count > 1) {}

void shard_policy::put_stream(const stream_info& info, database_instant now) {
  const bool is_new = queue_.find(info.id) == nullptr;
  queue_.put(info);
  reservation_.add_stream(info.id);
  if (is_new)
    reservation_.wake(info.id, now, now);
}

std::vector<attempt> shard_policy::remove_stream(stream_id id) {
  queue_.remove(id);
  return reservation_.remove_stream(id);
}

void shard_policy::wake(stream_id id, database_instant at, database_instant now) {
  reservation_.wake(id, at, now);
  if (at <= now && queue_.is_mixed())
    mixed_until_ = now + settings_.mixed_memory;
}

nanoseconds shard_policy::window(database_instant now) const {
  return now < mixed_until_ ? std::min(settings_.mixed_window, settings_.group_window)
                            : settings_.group_window;
}

std::vector<reserve_plan> shard_policy::plan_reserve(database_instant now, rate target) {
  held_limit_ =
      reserve_limit(message_share(target), std::max(settings_.reserve_batch, settings_.max_group),
                    settings_.reserve_cap);
  return reservation_.plan(now, held_limit_, queue_);
}

std::vector<attempt> shard_policy::on_reserved(const reserve_plan& asked,
                                               const std::vector<reserved_row>& rows) {
  reservation_.on_rows(asked, rows);
  std::vector<attempt> dropped = reservation_.trim(held_limit_, queue_);
  refresh_head(asked.stream);
  if (!dropped.empty())
    for (const stream_id id : queue_.order())
      refresh_head(id);
  return dropped;
}

/// Tells the queue what the stream has to offer.
void shard_policy::refresh_head(stream_id id) {
  const reserved_row* head = reservation_.front(id);
  queue_.set_head(id, head ? head->cost : 0);
  if (!head && reservation_.is_dry(id))
    queue_.set_idle(id);
}

std::optional<group_wait> shard_policy::reason_to_wait(database_instant now,
                                                       const route_pace& pace) const {
  if (claim_)
    return group_wait{pause_cause::claim_running, std::nullopt};
  if (hold_.allowance(now) == 0)
    return group_wait{pause_cause::provider_down, hold_.until()};
  if (room_in_flight(grid_at(pace, now).target) <= 0)
    return group_wait{pause_cause::in_flight, std::nullopt};
  return std::nullopt;
}

std::int64_t shard_policy::room_in_flight(rate target) const {
  return in_flight_limit(message_share(target), settings_.in_flight_floor * settings_.batch,
                         settings_.in_flight_cap)
         - static_cast<std::int64_t>(in_flight_.size());
}

/// Messages this shard may start: its slots, times what one slot takes.
rate shard_policy::message_share(rate target) const {
  const rate slots = share_of(target, position_);
  return rate::from_millihertz(slots.millihertz() * settings_.batch);
}

/// Whether the slot of the group's request takes another message: one that was refused with others
/// goes alone.
bool shard_policy::fits_request(const group_claim& group, const reserved_row& next) const {
  return !group.rows.empty() && !group.rows.front().alone && !next.alone
         && group.rows.size() < static_cast<std::size_t>(settings_.batch);
}

group_decision shard_policy::plan_group(database_instant now, const route_pace& pace,
                                        const gate_state& gate) {
  if (claim_ && claim_in_doubt_) {
    claim_in_doubt_ = false;
    claim_->is_repeat = true;
    return *claim_;
  }
  if (const auto wait = reason_to_wait(now, pace))
    return *wait;
  const auto free_from = queue_.earliest_free();
  if (!free_from)
    return group_needs_rows{};
  const bool is_capped = *free_from > now;
  const database_instant from = std::max(now, *free_from);
  const draw next = foresee_next(gate, pace, from).second;
  if (!next.taken)
    return group_wait{pause_cause::no_target, std::nullopt};
  if (next.taken->at - now > settings_.claim_lead)
    return group_wait{is_capped ? pause_cause::stream_caps : pause_cause::slot_far,
                      next.taken->at - settings_.claim_lead};
  group_claim group = fill_group(now, from, next.taken->at, pace, gate);
  if (group.rows.empty()) {
    const auto again = grant_.retry_at();
    return group_wait{pause_cause::daily_grant, again > now ? std::optional{again} : std::nullopt};
  }
  return group;
}

/// Who comes next at or after `from`, and the slot that its first message will take.
std::pair<std::optional<stream_id>, draw> shard_policy::foresee_next(const gate_state& gate,
                                                                     const route_pace& pace,
                                                                     database_instant from) const {
  draw next = foresee(gate, pace, position_, from, 1);
  if (!next.taken)
    return {std::nullopt, next};
  const auto stream = queue_.pick(next.taken->at);
  if (stream && slot_cost(*reservation_.front(*stream)) > 1)
    next = foresee(gate, pace, position_, from, slot_cost(*reservation_.front(*stream)));
  return {stream, next};
}

group_claim shard_policy::fill_group(database_instant now, database_instant from,
                                     database_instant first, const route_pace& pace,
                                     const gate_state& gate) {
  group_claim group;
  group.not_before = first;
  const auto allowed = hold_.allowance(now);
  const rate target = grid_at(pace, now).target;
  const std::int64_t most = std::min<std::int64_t>(
      {settings_.max_group, room_in_flight(target), allowed ? *allowed : settings_.max_group});
  const database_instant end = std::max(first, now + window(now));
  gate_state ahead = gate;
  while (static_cast<std::int64_t>(group.rows.size()) < most) {
    const auto [stream, next] = foresee_next(ahead, pace, from);
    if (!stream || !next.taken || (group.rows.empty() && next.taken->at > end))
      break;
    const reserved_row& row = *reservation_.front(*stream);
    const bool joins = fits_request(group, row);
    // A request of several messages is a group of its own.
    if (!joins && !group.rows.empty() && (settings_.batch > 1 || next.taken->at > end))
      break;
    const std::int32_t cost = row.cost;
    if (!grant_.use(cost))
      break;
    const std::int32_t slots = slot_cost(row);
    group.rows.push_back(reservation_.pop(*stream));
    group.total_cost += joins ? 0 : slots;
    // A wide message may have waited for its turn, for less than so many slots: no loss to a cap.
    queue_.charge(*stream, cost, next.taken->at, own_period(target, position_) * slots);
    refresh_head(*stream);
    if (settings_.batch == 1)
      ahead = next.state;
  }
  if (group.rows.empty())
    return group;
  group.group_no = ++last_group_;
  hold_.on_try(group.rows.front().of.message);
  claim_ = group;
  claim_in_doubt_ = false;
  return group;
}

void shard_policy::on_claimed(std::int32_t group_no, const std::vector<message_id>& claimed) {
  if (!claim_ || claim_->group_no != group_no)
    return;
  for (const reserved_row& row : claim_->rows) {
    const message_id id = row.of.message;
    if (std::ranges::find(claimed, id) != claimed.end()) {
      in_flight_.emplace(id, row.cost);
      continue;
    }
    grant_.give_back(row.cost);
    reservation_.forget(id);
    hold_.on_not_claimed(id);
  }
  claim_.reset();
  claim_in_doubt_ = false;
}

void shard_policy::on_claim_in_doubt(std::int32_t group_no) {
  if (claim_ && claim_->group_no == group_no)
    claim_in_doubt_ = true;
}

void shard_policy::on_outcome(const outcome& what, database_instant now) {
  const auto found = in_flight_.find(what.of.message);
  if (found == in_flight_.end())
    return;
  if (what.kind == outcome_kind::not_started || what.kind == outcome_kind::throttled)
    grant_.give_back(found->second);
  in_flight_.erase(found);
  hold_.on_outcome(what, now);
}

void shard_policy::on_recorded(message_id id) {
  if (const auto stream = reservation_.forget(id))
    refresh_head(*stream);
}

bool shard_policy::is_quiet() const {
  return reservation_.size() == 0 && !claim_ && in_flight_.empty() && !reservation_.is_reading();
}

std::int32_t in_flight_limit(rate share, std::int32_t floor, std::int32_t cap) {
  const std::int64_t second = (share.millihertz() + 999) / 1000;
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(std::max<std::int64_t>(floor, second), cap));
}

} // namespace paceline
