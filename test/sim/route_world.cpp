#include "test/sim/route_world.hpp"

#include <algorithm>
#include <array>
#include <variant>

namespace paceline::sim {
namespace {

using namespace std::chrono_literals;

/// Near today's date, so that the arithmetic meets today's magnitudes.
constexpr database_instant origin{nanoseconds{1'790'000'000'000'000'000}};

} // namespace

struct route_world::shard {
  std::int64_t name = 0;
  std::uint64_t life = 0; ///< changes when an owner dies
  shard_policy policy;
  gate_state gate;
  gate_state stored; ///< what the database holds of the gate
  route_pace known;
  nanoseconds clock_offset{0};
  database_instant asleep_until = database_instant::min();
};

route_world::route_world(plan what) : plan_(what), random_(what.seed) {}
route_world::~route_world() = default;

std::int64_t route_world::uniform(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
}

/// Between half and one and a half of the mean.
nanoseconds route_world::about(nanoseconds mean) {
  return nanoseconds{uniform(mean.count() / 2, mean.count() * 3 / 2)};
}

void route_world::schedule(database_instant at, std::function<void()> what) {
  events_.push({std::max(at, now_), next_order_++, std::move(what)});
}

void route_world::schedule_trouble(nanoseconds mean, std::function<void()> what) {
  schedule(now_ + about(mean), [this, mean, what] {
    what();
    schedule_trouble(mean, what);
  });
}

const std::vector<started>& route_world::run() {
  now_ = origin + nanoseconds{uniform(0, 1'000'000'000)};
  route_ = with_fresh_grid({}, plan_.target, now_);
  note_grids();
  end_ = begin() + plan_.length;
  if (plan_.provider) {
    const double quota = plan_.provider->quota.per_second();
    bucket_.emplace(plan_.provider->tolerance * quota, 3 + 0.05 * quota,
                    boot_instant{now_.time_since_epoch()});
  }
  open_shards(plan_.shards);
  const nanoseconds often = std::clamp<nanoseconds>(plan_.length / 10, 3s, 60s);
  if (plan_.bad.stalls)
    schedule_trouble(often / 6, [this] { stall_one(); });
  if (plan_.bad.takeovers)
    schedule_trouble(often / 2, [this] { take_one_over(); });
  if (plan_.bad.resharding)
    schedule_trouble(often * 2, [this] { reshard(); });
  if (plan_.bad.new_targets)
    schedule_trouble(often / 3, [this] { change_target(); });
  if (plan_.bad.brakes)
    schedule_trouble(often, [this] { brake(); });
  while (!events_.empty() && events_.top().at <= end_) {
    now_ = events_.top().at;
    const auto what = std::move(events_.top().what);
    events_.pop();
    what();
  }
  std::ranges::stable_sort(starts_, {}, &started::at);
  return starts_;
}

// Shards ------------------------------------------------------------------------------------------

void route_world::open_shards(std::int32_t count) {
  running_.clear();
  for (std::int32_t index = 0; index < count; ++index) {
    running_.push_back(next_name_);
    open_shard(next_name_++, {index, count}, {});
  }
}

void route_world::open_shard(std::int64_t name, shard_position position, gate_state gate) {
  policy_settings settings;
  auto opened = std::make_unique<shard>(
      shard{name, ++next_life_, shard_policy{position, settings}, gate, gate, route_, {}, {}});
  opened->known.read_at = now_;
  opened->clock_offset =
      nanoseconds{uniform(-plan_.bad.clock_error.count(), plan_.bad.clock_error.count())};
  for (std::int64_t id = 1; id <= 3; ++id)
    opened->policy.put_stream({stream_id{id}, {}, 10, static_cast<std::int32_t>(id), {}}, now_);
  const std::uint64_t life = opened->life;
  if (static_cast<std::size_t>(name) >= shards_.size())
    shards_.resize(static_cast<std::size_t>(name) + 1);
  shards_[static_cast<std::size_t>(name)] = std::move(opened);
  schedule(now_, [this, name, life] { tick(name, life); });
  if (plan_.bad.any() || plan_.provider)
    schedule(now_ + about(800ms), [this, name, life] { poll_route(name, life); });
}

route_world::shard* route_world::alive(std::int64_t name, std::uint64_t life) {
  shard* s = shards_[static_cast<std::size_t>(name)].get();
  return s && s->life == life ? s : nullptr;
}

/// The shard actor: does what the policy says.
void route_world::tick(std::int64_t name, std::uint64_t life) {
  shard* s = alive(name, life);
  if (!s)
    return;
  if (s->asleep_until > now_) {
    schedule(s->asleep_until, [this, name, life] { tick(name, life); });
    return;
  }
  const database_instant local = now_ + s->clock_offset;
  read_rows(*s);
  const group_decision decision = s->policy.plan_group(local, s->known, s->gate);
  if (const auto* group = std::get_if<group_claim>(&decision)) {
    claim(*s, *group);
  } else if (const auto* wait = std::get_if<group_wait>(&decision); wait && wait->until) {
    const database_instant until = std::max(*wait->until - s->clock_offset, now_ + 1us);
    schedule(until, [this, name, life] { tick(name, life); });
  }
}

/// The backlog never ends; reading is instant.
void route_world::read_rows(shard& s) {
  for (const reserve_plan& asked : s.policy.plan_reserve(now_, grid_at(s.known, now_).target)) {
    std::vector<reserved_row> rows;
    for (std::int32_t i = 0; i < asked.limit; ++i)
      rows.push_back({{message_id{++next_message_}, 0}, asked.stream, some_cost(), now_});
    s.policy.on_reserved(asked, rows);
  }
}

std::int32_t route_world::some_cost() {
  if (plan_.mix) {
    const bool is_wide = uniform(1, 100) <= plan_.mix->wide_percent;
    return is_wide ? static_cast<std::int32_t>(uniform(plan_.mix->low, plan_.mix->high)) : 1;
  }
  const bool is_single = plan_.largest_cost == 1 || uniform(0, 3) > 0;
  return is_single ? 1 : static_cast<std::int32_t>(uniform(1, plan_.largest_cost));
}

void route_world::claim(shard& s, const group_claim& group) {
  const database_instant local = now_ + s.clock_offset;
  s.stored.last_used =
      std::max(s.stored.last_used, upper_bound(s.gate, s.known, s.policy.position(),
                                               local + slot_horizon, group.total_cost));
  const bool is_slow = plan_.bad.slow_claims && uniform(0, 9) == 0;
  const nanoseconds round_trip = about(is_slow ? 1500ms : uniform(0, 99) == 0 ? 30ms : 6ms);
  schedule(now_ + (is_slow ? 2ms : round_trip / 2), [this, name = s.name, life = s.life] {
    if (shard* asked = alive(name, life)) {
      asked->known = route_;
      asked->known.read_at = now_;
    }
  });
  schedule(now_ + round_trip,
           [this, name = s.name, life = s.life, group] { answer(name, life, group); });
}

void route_world::answer(std::int64_t name, std::uint64_t life, const group_claim& group) {
  shard* s = alive(name, life);
  if (!s)
    return;
  if (s->asleep_until > now_) {
    schedule(s->asleep_until, [this, name, life, group] { answer(name, life, group); });
    return;
  }
  const database_instant local = now_ + s->clock_offset;
  std::vector<message_id> ids;
  std::vector<std::int32_t> costs;
  for (const reserved_row& row : group.rows) {
    ids.push_back(row.of.message);
    costs.push_back(row.cost);
  }
  s->policy.on_claimed(group.group_no, ids);
  const auto slots =
      take_group(s->gate, s->known, s->policy.position(), std::max(local, group.not_before), costs);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (i >= slots.size()) {
      finish(name, life, {{ids[i], 0}, outcome_kind::not_started, {}, {}, {}, {}, {}, {}});
      continue;
    }
    const nanoseconds late = some_lateness(slots[i]);
    schedule(
        slots[i].at + late - s->clock_offset,
        [this, name, life, row = group.rows[i], when = slots[i]] { start(name, life, row, when); });
  }
  tick(name, life);
}

nanoseconds route_world::some_lateness(const slot& when) {
  const nanoseconds most = when.latest - when.at;
  if (plan_.bad.latest_starts && when.at.time_since_epoch() / 700ms % 2 == 0)
    return most;
  if (plan_.bad.late_starts && uniform(0, 3) == 0)
    return nanoseconds{uniform(0, most.count() + 2'000'000)};
  return nanoseconds{uniform(0, 300'000)};
}

/// The courier: starts the call unless its time has passed.
void route_world::start(std::int64_t name, std::uint64_t life, const reserved_row& row, slot when) {
  shard* s = alive(name, life);
  if (!s)
    return;
  if (s->asleep_until > now_) {
    schedule(s->asleep_until, [this, name, life, row, when] { start(name, life, row, when); });
    return;
  }
  if (now_ + s->clock_offset > when.latest || when.grid_number <= grids_stopped_) {
    finish(name, life, {row.of, outcome_kind::not_started, {}, {}, {}, {}, {}, {}});
    return;
  }
  const bool refused = is_refused(row.cost);
  starts_.push_back({now_, row.cost, name, refused});
  const auto kind = refused ? outcome_kind::throttled : outcome_kind::accepted;
  schedule(now_ + about(170ms), [this, name, life, of = row.of, kind] {
    if (kind == outcome_kind::throttled)
      heed_refusal();
    finish(name, life, {of, kind, {}, {}, {}, {}, {}, {}});
  });
}

bool route_world::is_refused(std::int32_t cost) {
  return bucket_ && !bucket_->take(cost, boot_instant{now_.time_since_epoch()});
}

/// Refusals within a second are one event. The couriers stop at once; the quota answers a little
/// later, and when the brake ends the target is the plan's again.
void route_world::heed_refusal() {
  if (now_ < braked_at_ + 1s)
    return;
  braked_at_ = now_;
  ++brakes_;
  grids_stopped_ = grids_.back().number;
  const nanoseconds sooner = grid_lead - plan_.provider->lead;
  route_ = with_brake(route_, braked_target(grid_at(route_, now_).target, std::nullopt), now_,
                      default_brake);
  route_.current.start -= sooner;
  note_grids();
  schedule(now_ + about(200ms), [this, sooner] {
    // The couriers stop here too where the lead is short: nobody may use the old grid any more.
    if (sooner > 0ns)
      grids_stopped_ = grids_.back().number;
    route_ = with_target(route_, std::min(plan_.provider->quota, plan_.target), now_);
    route_.next->start = std::max(route_.next->start - sooner, route_.current.start);
    note_grids();
  });
  schedule(now_ + default_brake, [this, braked_at = braked_at_] {
    if (braked_at != braked_at_ || grids_.back().target == plan_.target)
      return;
    route_ = with_target(route_, plan_.target, now_);
    note_grids();
  });
}

void route_world::finish(std::int64_t name, std::uint64_t life, outcome what) {
  shard* s = alive(name, life);
  if (!s)
    return;
  s->policy.on_outcome(what, now_);
  s->policy.on_recorded(what.of.message);
  if (!s->policy.is_claiming() && s->policy.in_flight() % 64 == 63)
    tick(name, life);
}

/// A shard that has nothing to claim learns of new grids all the same.
void route_world::poll_route(std::int64_t name, std::uint64_t life) {
  shard* s = alive(name, life);
  if (!s)
    return;
  if (s->asleep_until <= now_) {
    s->known = route_;
    s->known.read_at = now_;
    tick(name, life);
  }
  schedule(now_ + about(800ms), [this, name, life] { poll_route(name, life); });
}

// Trouble -----------------------------------------------------------------------------------------

void route_world::stall_one() {
  if (running_.empty())
    return;
  const auto name = running_[static_cast<std::size_t>(
      uniform(0, static_cast<std::int64_t>(running_.size()) - 1))];
  shards_[static_cast<std::size_t>(name)]->asleep_until = now_ + about(uniform(0, 1) ? 40ms : 3s);
}

/// The owner dies; what its courier had not started is gone with it. The next owner goes on from
/// the stored gate, after the lease.
void route_world::take_one_over() {
  if (running_.empty())
    return;
  const auto name = running_[static_cast<std::size_t>(
      uniform(0, static_cast<std::int64_t>(running_.size()) - 1))];
  shard& dead = *shards_[static_cast<std::size_t>(name)];
  dead.life = ++next_life_;
  const bool from_nothing = plan_.largest_cost == 1 && uniform(0, 1) == 0;
  const gate_state gate = from_nothing ? gate_state{} : dead.stored;
  schedule(now_ + plan_.bad.clock_error * 2 + nanoseconds{uniform(0, 2'000'000'000)},
           [this, name, life = dead.life, position = dead.policy.position(), gate] {
             if (alive(name, life))
               open_shard(name, position, gate);
           });
}

/// All shards are given up, then another number goes on with the same grid.
void route_world::reshard() {
  for (const std::int64_t name : running_)
    shards_[static_cast<std::size_t>(name)]->life = ++next_life_;
  running_.clear();
  const auto count = static_cast<std::int32_t>(uniform(1, std::min(200, plan_.shards * 2 + 1)));
  schedule(now_ + plan_.bad.clock_error * 2 + nanoseconds{uniform(0, 500'000'000)},
           [this, count] { open_shards(count); });
}

rate route_world::some_target() {
  constexpr std::array<std::int64_t, 6> per_mille{5, 30, 400, 900, 1'100, 2'000};
  const std::int64_t part = per_mille[static_cast<std::size_t>(uniform(0, 5))];
  return rate::from_millihertz(std::max<std::int64_t>(1, plan_.target.millihertz() * part / 1000));
}

void route_world::change_target() {
  route_ = with_target(route_, some_target(), now_);
  note_grids();
}

void route_world::brake() {
  const rate seen = grid_at(route_, now_).target;
  route_ = with_brake(route_, braked_target(seen, std::nullopt), now_, default_brake);
  note_grids();
}

// What happened -----------------------------------------------------------------------------------

void route_world::note_grids() {
  for (const grid* g : {&route_.current, route_.next ? &*route_.next : nullptr})
    if (g && (grids_.empty() || grids_.back().number < g->number))
      grids_.push_back(*g);
}

rate route_world::largest_target(database_instant from, database_instant to) const {
  rate largest;
  for (std::size_t i = 0; i < grids_.size(); ++i) {
    const bool ended = i + 1 < grids_.size() && grids_[i + 1].start < from;
    if (!ended && grids_[i].start <= to)
      largest = std::max(largest, grids_[i].target);
  }
  return largest;
}

std::uint64_t route_world::digest() const {
  std::uint64_t hash = 1469598103934665603ull;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  for (const started& s : starts_) {
    mix(static_cast<std::uint64_t>(s.at.time_since_epoch().count()));
    mix(static_cast<std::uint64_t>(s.shard) << 32 | static_cast<std::uint64_t>(s.cost));
  }
  return hash;
}

} // namespace paceline::sim
