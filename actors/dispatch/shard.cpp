#include "actors/dispatch/shard.hpp"

#include <algorithm>
#include <utility>

#include "actors/database_post.hpp"

namespace paceline {
namespace {

// What keeps a shard from claiming passes without a message to it: a clock estimate that gets
// better, a recorder that catches up. A route that waits or is stopped is announced, too.
constexpr nanoseconds soon = std::chrono::milliseconds{50};
constexpr nanoseconds later = std::chrono::seconds{1};

} // namespace

shard_actor::shard_actor(caf::actor_config& config, shard_options options,
                         shard_surroundings around, start_shard start, use_reading reading)
    : caf::event_based_actor(config), options_(std::move(options)), around_(std::move(around)),
      shard_(start.shard), route_(start.route), gauges_(around_.measured),
      epoch_(start.ownership.epoch), position_{start.shard.name.index, start.shard.name.count},
      policy_(position_, options_.policy), preparer_(options_.prepare),
      uploads_(options_.uploads, position_.count) {
  on_reading(reading);
  gate_ = taken_over(start.ownership.last_slot, pace_, position_, database_now());
}

void shard_actor::on_exit() {
  gauges_ = shard_gauges{{}}; // whoever keeps the ended actor must not keep its part of the sums
}

caf::behavior shard_actor::make_behavior() {
  return {
      [this](const fire_alarm& alarm) { on_alarm(alarm); },
      [this](const use_reading& reading) {
        on_reading(reading);
        publish_calls();
        drive();
      },
      [this](const tick& due) {
        if (due.number != tick_number_)
          return;
        tick_at_.reset();
        drive();
      },
      [this](const rows_reserved& answer) { on_rows(answer); },
      [this](const group_claimed& answer) { on_claimed(answer); },
      [this](const grant_drawn& answer) {
        if (*answer.granted) {
          policy_.grant().on_granted(**answer.granted, database_now() + std::chrono::minutes{1});
        } else {
          policy_.grant().on_failed();
          on_database_error();
        }
        drive();
      },
      [this](const take_outcomes& arrived) { on_outcomes(arrived); },
      [this](const forget_messages& stored) {
        forget(stored);
        drive();
      },
      [this](const drain_node&) {
        draining_ = true;
        around_.desk.purge(shard_.shard, reason_code::node_stopping);
        drive();
      },
  };
}

// Time and pace ---------------------------------------------------------------

void shard_actor::on_reading(const use_reading& reading) {
  clock_ = reading.clock;
  gate_ = shifted(gate_, reading.clock_step);
  if (reading.reading.read_at < pace_.read_at && reading.clock_step == nanoseconds{0})
    return;
  reading_ = reading.reading;
  pace_ = to_pace(reading_);
  policy_.grant().set_limited(reading_.daily_limited);
  if (run_)
    run_->braked = run_->braked || reading_.brake_left > nanoseconds{0};
}

/// The target in force, or the announced one where nothing may start yet: rows are read ahead.
rate shard_actor::target_now() const {
  auto now = grid_at(pace_, database_now()).target;
  return now.is_zero() && pace_.next ? pace_.next->target : now;
}

bool shard_actor::may_claim() const {
  auto now = around_.time.now();
  // A route waits for its daily quota once all of it is granted: what this shard was granted goes.
  auto is_open =
      reading_.state == route_state::running
      || (reading_.state == route_state::waiting && policy_.grant().left().value_or(0) > 0);
  return run_ && !draining_ && !disowned_ && is_open && clock_.is_good(now) && now >= quiet_until_
         && !around_.store.is_recording_behind();
}

// The run ---------------------------------------------------------------------

void shard_actor::on_alarm(const fire_alarm& alarm) {
  if (alarm.streams)
    offer(*alarm.streams);
  if (alarm.number > alarm_) {
    alarm_ = alarm.number;
    if (!run_) {
      run_.emplace();
      run_->began = around_.time.now();
      run_->statements_before = around_.store.statements();
      run_->braked = reading_.brake_left > nanoseconds{0};
    }
  }
  drive();
}

void shard_actor::offer(const std::vector<due_stream>& streams) {
  auto now = database_now();
  std::vector<stream_id> offered;
  of_campaigns_.clear();
  for (const auto& stream : streams) {
    offered.push_back(stream.stream);
    if (stream.is_campaign)
      of_campaigns_.insert(stream.stream);
    policy_.put_stream({stream.stream, stream.project, stream.priority, stream.weight,
                        stream.rate_cap.value_or(rate{})},
                       now);
    policy_.wake(stream.stream, now + std::max(stream.due_in, nanoseconds{0}), now);
  }
  std::sort(offered.begin(), offered.end());
  for (auto known : streams_)
    if (!std::binary_search(offered.begin(), offered.end(), known))
      drop(policy_.remove_stream(known));
  streams_ = std::move(offered);
}

void shard_actor::drive() {
  if (draining_)
    return finish_drain();
  if (!run_)
    return;
  auto now = around_.time.now();
  if (now - run_->began >= options_.run)
    return finish_run(false);
  if (disowned_)
    return;
  if (!may_claim())
    return wait_until(database_now() + (reading_.state == route_state::running ? soon : later));
  auto database_time = database_now();
  plan_reading(database_time);
  plan_grant(database_time);
  plan_claim(database_time);
  bool waits_for_row = policy_.next_wake().has_value();
  if (policy_.is_quiet() && plans_.empty() && unrecorded_ == 0 && !waits_for_row)
    finish_run(true);
  else if (waits_for_row)
    wait_until(*policy_.next_wake());
}

void shard_actor::wait_until(database_instant when) {
  // The end of the run bounds every wait, so that a sleeping shard still reports on time.
  auto wake = clock_.boot_at(when);
  if (run_ && !draining_)
    wake = std::min(wake, run_->began + options_.run);
  if (tick_at_ && *tick_at_ <= wake)
    return;
  tick_at_ = wake;
  auto wait = std::max(wake - around_.time.now(), nanoseconds{0});
  delayed_send(this, wait, tick{++tick_number_});
}

void shard_actor::finish_run(bool idle) {
  log_run(around_.log, shard_.name.text(), *run_, around_.time.now(), around_.store.statements(),
          reading_.quota, share_of(target_now(), position_));
  run_.reset();
  tick_at_.reset();
  ++tick_number_;
  publish_calls();
  tell(around_.supervisor, end_run{shard_.shard, alarm_, idle});
}

/// Late news of an attempt that has ended must not take away the row's next one.
void shard_actor::forget(const forget_messages& stored) {
  for (const auto& of : stored.attempts) {
    auto row = rows_.find(of.message);
    if (row == rows_.end() || row->second.message->of != of)
      continue;
    unrecorded_ -= row->second.ended ? 1 : 0;
    rows_.erase(row);
    policy_.on_recorded(of.message);
  }
}

/// For people: the number goes out with the node's next renewal.
void shard_actor::publish_calls() {
  gauges_.show(share_of(target_now(), position_), policy_.grant().left());
  auto calls = static_cast<std::int32_t>(policy_.in_flight());
  if (calls != published_calls_)
    tell(around_.cluster, publish_in_flight{shard_.shard, calls});
  published_calls_ = calls;
}

void shard_actor::finish_drain() {
  // Only the repeat tells which rows a claim in doubt has taken; they are given back then.
  if (policy_.is_claim_in_doubt()) {
    if (around_.time.now() < quiet_until_)
      return wait_until(clock_.at(quiet_until_));
    auto repeat = policy_.plan_group(database_now(), pace_, gate_);
    return send_claim(std::get<group_claim>(repeat));
  }
  if (drained_ || policy_.is_claiming() || policy_.in_flight() > 0 || unrecorded_ > 0)
    return;
  drained_ = true;
  if (run_)
    finish_run(true);
  tell(around_.supervisor, report_drained{shard_.shard});
}

} // namespace paceline
