#include "test/actor/shard_stage.hpp"

#include <algorithm>

namespace paceline::test {

shard_stage::shard_stage(stage_plan what)
    : plan(what), backlog(what.outcomes_waiting), records(time, table, what.database) {
  table.route.route = route;
  table.route.shard_count = plan.shards;
  table.route.current = {1, time.database_now(), rate::per_second(plan.target)};
  table.route.read_at = time.database_now();
  table.add_stream(news, 10);
  table.add_stream(direct, 0);
  desk.add_route(route, call_instruments{measured, "test:sim"});
  supervisor.on_ended = [this](const end_run& ended) { on_ended(ended); };
  std::vector<caf::actor> around{time.spawn<listener>(supervisor), time.spawn<listener>(quota),
                                 time.spawn<listener>(cluster), time.spawn<listener>(campaigns)};
  recorder_options recording;
  recording.measured = recorder_instruments_of(measured, {{route, "test:sim"}});
  recorder =
      time.spawn<recorder_actor>(recording, records, backlog, time, log.log, around[3].address());
  desk.use(recorder.address());
  children_.resize(static_cast<std::size_t>(plan.shards));
  for (std::int32_t index = 0; index < plan.shards; ++index)
    spawn_shard(index, around);
  time.settle();
}

void shard_stage::spawn_shard(std::int32_t index, const std::vector<caf::actor>& around) {
  start_shard start;
  start.shard.shard = shard_id{index + 1};
  start.shard.name = {*route_name::parse("test:sim"), index, plan.shards};
  start.route = route;
  start.ownership = {epoch_id{100 + index}, time.database_now()};
  table.shards[start.shard.shard] = {start.ownership.epoch, 0, time.database_now()};
  stores.push_back(std::make_unique<fake_shard_store>(time, table, backlog, plan.database));
  shard_options options;
  options.run = plan.run;
  shard_surroundings surroundings{*stores.back(),
                                  desk,
                                  time,
                                  log.log,
                                  around[0].address(),
                                  recorder.address(),
                                  around[1].address(),
                                  around[2].address(),
                                  route_instruments{measured, "test:sim"}};
  shards.push_back(time.spawn<shard_actor>(options, surroundings, start, reading()));
  desk.set_deadline(start.shard.shard, start.ownership.epoch, time.now() + std::chrono::hours{100});
  caf::anon_send(recorder, know_shard{start.shard.shard, shards.back().address()});
}

std::vector<message_id> shard_stage::add(stream_id stream, int count, const std::string& fields) {
  return table.add(stream, count, time.database_now(), fields);
}

void shard_stage::poll() {
  auto streams = std::make_shared<const std::vector<due_stream>>(table.due(time.database_now()));
  auto due = std::ranges::any_of(
      *streams, [](const due_stream& stream) { return stream.due_in <= nanoseconds{0}; });
  for (std::size_t i = 0; i < shards.size(); ++i) {
    auto& child = children_[i];
    if (due && !child.running) {
      child.running = true;
      ++child.alarm;
    }
    caf::anon_send(shards[i], fire_alarm{child.alarm, streams});
  }
}

void shard_stage::on_ended(const end_run& ended) {
  auto index = static_cast<std::size_t>(ended.shard.value() - 1);
  auto& child = children_[index];
  if (child.alarm != ended.number)
    return;
  child.running = false;
  if (!is_supervised || ended.idle)
    return;
  child.running = true;
  caf::anon_send(shards[index], fire_alarm{++child.alarm, nullptr});
}

void shard_stage::supervise() {
  is_supervised = is_polling = true;
  poll_again();
  renew_again();
}

void shard_stage::poll_again() {
  if (!is_polling)
    return;
  poll();
  time.after(std::chrono::seconds{1}, [this] { poll_again(); });
}

void shard_stage::renew_again() {
  renew();
  time.after(std::chrono::milliseconds{1500}, [this] { renew_again(); });
}

use_reading shard_stage::reading() const {
  use_reading fresh{table.route, time.clock()};
  fresh.reading.read_at = time.database_now();
  return fresh;
}

void shard_stage::renew() {
  tell_all(reading());
}

void shard_stage::tell_all(const use_reading& reading) {
  for (auto& shard : shards)
    caf::anon_send(shard, reading);
}

void shard_stage::announce(double target, nanoseconds lead) {
  auto& of = table.route;
  of.current = {of.current.number + 1, time.database_now() + lead, rate::per_second(target)};
}

void shard_stage::drain() {
  is_polling = false;
  for (auto& shard : shards)
    caf::anon_send(shard, drain_node{});
}

bool shard_stage::is_done() const {
  return count(message_status::queued) == 0 && count(message_status::attempting) == 0;
}

std::int64_t shard_stage::accepted_twice() const {
  std::map<message_id, int> accepted;
  for (const auto& call : ledger())
    if (call.answered == outcome_kind::accepted)
      ++accepted[call.of.message];
  return std::ranges::count_if(accepted, [](const auto& entry) { return entry.second > 1; });
}

double worst_excess(const std::vector<started_call>& ledger, double target) {
  double worst = -1e9;
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < ledger.size(); ++begin) {
    while (end < ledger.size() && ledger[end].at < ledger[begin].at + std::chrono::seconds{1})
      ++end;
    worst = std::max(worst, static_cast<double>(end - begin) - (1.005 * target + 2));
  }
  return worst;
}

double mean_rate(const std::vector<started_call>& ledger) {
  auto length = ledger.back().at - ledger.front().at;
  return static_cast<double>(ledger.size() - 1) / (static_cast<double>(length.count()) / 1e9);
}

nanoseconds longest_gap(const std::vector<started_call>& ledger) {
  nanoseconds longest{0};
  for (std::size_t i = 1; i < ledger.size(); ++i)
    longest = std::max(longest, ledger[i].at - ledger[i - 1].at);
  return longest;
}

} // namespace paceline::test
