#include "actors/recorder.hpp"

#include <algorithm>
#include <utility>

#include "actors/database_post.hpp"

namespace paceline {

recorder_actor::recorder_actor(caf::actor_config& config, recorder_options options,
                               record_store& store, record_backlog& backlog, const boot_time& time,
                               logger& log, caf::actor_addr campaigns)
    : caf::event_based_actor(config), options_(std::move(options)), store_(store),
      backlog_(backlog), time_(time), log_(log), campaigns_(std::move(campaigns)) {}

caf::behavior recorder_actor::make_behavior() {
  return {
      [this](const bring_outcomes& arrived) { on_outcomes(arrived); },
      [this](const record_unsent& unsent) {
        for (const auto& what : unsent.outcomes)
          enqueue(unsent.shard, unsent.route, what);
        flush();
      },
      [this](const outcomes_stored& answer) { on_stored(answer); },
      [this](const tick& due) {
        if (due.number != tick_number_)
          return;
        tick_armed_ = false;
        flush();
      },
      [this](const know_shard& known) { shards_[known.shard] = known.actor; },
      [this](const forget_shard& gone) { shards_.erase(gone.shard); },
      [this](const await_recorded&) {
        awaiting_ = caf::actor_cast<caf::actor_addr>(current_sender());
        flush();
      },
  };
}

void recorder_actor::on_outcomes(const bring_outcomes& arrived) {
  auto shard = shards_.find(arrived.shard);
  auto alive = shard != shards_.end() && caf::actor_cast<caf::actor>(shard->second) != nullptr;
  for (const auto& delivery : *arrived.deliveries) {
    // A missed slot is the shard's to draw again; without a shard the message goes back.
    if (!alive || delivery.result.reason != reason_code::slot_missed)
      enqueue(arrived.shard, delivery.order.route, delivery.result);
  }
  if (alive)
    tell(shard->second, take_outcomes{arrived.deliveries});
  flush();
}

void recorder_actor::enqueue(shard_id shard, route_id route, outcome what) {
  if (waiting_.empty())
    oldest_ = time_.now();
  waiting_.push_back({shard, route, std::move(what)});
}

void recorder_actor::flush() {
  auto now = time_.now();
  auto running = static_cast<std::size_t>(
      std::count_if(batches_.begin(), batches_.end(), [](const auto& b) { return b.second.sent; }));
  for (auto& [number, failed] : batches_)
    if (running < options_.statements_at_once && !failed.sent && failed.not_before <= now) {
      send(number, failed);
      ++running;
    }
  while (running < options_.statements_at_once && !waiting_.empty()
         && (waiting_.size() >= options_.batch || now - oldest_ >= options_.delay || awaiting_)) {
    auto count = std::min(waiting_.size(), options_.batch);
    auto& made = batches_[++last_batch_];
    made.entries.assign(std::make_move_iterator(waiting_.begin()),
                        std::make_move_iterator(waiting_.begin() + static_cast<long>(count)));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<long>(count));
    in_batches_ += count;
    oldest_ = now;
    send(last_batch_, made);
    ++running;
  }
  publish_backlog();
  arm();
}

void recorder_actor::send(std::uint64_t number, batch& which) {
  auto outcomes = std::make_shared<std::vector<outcome>>();
  outcomes->reserve(which.entries.size());
  for (const auto& entry : which.entries) {
    outcomes->push_back(entry.what);
    if (which.without_text) {
      outcomes->back().diagnostic.clear();
      outcomes->back().provider_id.clear();
    }
  }
  which.sent = true;
  store_.record(address(), number, std::move(outcomes));
}

void recorder_actor::on_stored(const outcomes_stored& answer) {
  auto found = batches_.find(answer.batch);
  if (found == batches_.end())
    return;
  const auto& reply = *answer.reply;
  if (!reply) {
    on_failed(found, reply.failure());
    return flush();
  }
  count(found->second);
  confirm(found->second);
  in_batches_ -= found->second.entries.size();
  batches_.erase(found);
  if (!reply->streams.empty())
    tell(campaigns_, check_finished{reply->streams});
  flush();
}

/// Nothing is given up: a passing error waits and tries again; a value that can't be stored is
/// isolated by halving the batch, and then stored without the text that came from outside.
void recorder_actor::on_failed(std::map<std::uint64_t, batch>::iterator failed, const error& why) {
  auto& which = failed->second;
  which.sent = false;
  ++which.failures;
  if (why.kind == error_kind::data && which.entries.size() > 1) {
    auto middle = which.entries.begin() + static_cast<long>(which.entries.size() / 2);
    auto& half = batches_[++last_batch_];
    half.entries.assign(std::make_move_iterator(middle),
                        std::make_move_iterator(which.entries.end()));
    which.entries.erase(middle, which.entries.end());
    return;
  }
  if (why.kind == error_kind::data && !which.without_text) {
    which.without_text = true;
    return;
  }
  auto wait = std::chrono::milliseconds{200} * (1 << std::min(which.failures - 1, 5));
  which.not_before = time_.now() + std::min<nanoseconds>(wait, std::chrono::seconds{5});
  log_.warn(
      "outcomes could not be stored; they are kept and tried again",
      {{"outcomes", which.entries.size()}, {"waiting", backlog_.waiting()}, {"error", why.text}});
}

/// Here and not where they arrive, so that an outcome counts once however often it had to be sent.
void recorder_actor::count(const batch& stored) const {
  options_.measured.batch_size.observe(static_cast<double>(stored.entries.size()));
  const auto& routes = options_.measured.messages;
  auto known = routes.end();
  for (const auto& entry : stored.entries) {
    if (known == routes.end() || known->first != entry.route)
      known = routes.find(entry.route);
    if (known != routes.end())
      known->second.at(static_cast<std::size_t>(entry.what.kind)).add();
  }
}

void recorder_actor::confirm(const batch& stored) {
  std::unordered_map<shard_id, std::vector<attempt>> by_shard;
  for (const auto& entry : stored.entries)
    by_shard[entry.shard].push_back(entry.what.of);
  for (auto& [shard, attempts] : by_shard)
    if (auto known = shards_.find(shard); known != shards_.end())
      tell(known->second, forget_messages{std::move(attempts)});
}

void recorder_actor::publish_backlog() {
  backlog_.set(static_cast<std::int64_t>(waiting_.size() + in_batches_));
  if (awaiting_ && waiting_.empty() && batches_.empty()) {
    tell(awaiting_, report_recorded{});
    awaiting_ = nullptr;
  }
}

void recorder_actor::arm() {
  if (tick_armed_ || (waiting_.empty() && batches_.empty()))
    return;
  tick_armed_ = true;
  auto now = time_.now();
  auto wait = options_.delay;
  if (!waiting_.empty())
    wait = std::min(wait, std::max(oldest_ + options_.delay - now, nanoseconds{1'000'000}));
  delayed_send(this, wait, tick{++tick_number_});
}

} // namespace paceline
