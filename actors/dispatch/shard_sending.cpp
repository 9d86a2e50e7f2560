// The shard's way from prepared messages to outcomes: claim, slots, courier, recorder.

#include <algorithm>
#include <utility>

#include "actors/database_post.hpp"
#include "actors/dispatch/shard.hpp"

namespace paceline {

route_pace to_pace(const route_reading& reading) {
  return {reading.current, reading.next, reading.read_at, reading.read_at + reading.brake_left};
}

namespace {

/// Why what is claimed goes back on a route in that state.
reason_code reason_of(route_state state) {
  switch (state) {
  case route_state::waiting:
    return reason_code::provider_daily_quota;
  case route_state::stopped:
    return reason_code::provider_sending_paused;
  case route_state::paused:
    return reason_code::route_paused;
  case route_state::running:
    break;
  }
  return reason_code::slot_missed;
}

} // namespace

void shard_actor::plan_grant(database_instant now) {
  if (!may_claim())
    return;
  auto wanted = policy_.grant().needed(now, share_of(target_now(), position_), largest_cost_);
  if (wanted == 0)
    return;
  policy_.grant().on_asked();
  around_.store.draw_grant(address(), wanted);
}

void shard_actor::plan_claim(database_instant now) {
  if (!may_claim())
    return;
  auto decision = policy_.plan_group(now, pace_, gate_);
  if (auto* wait = std::get_if<group_wait>(&decision)) {
    if (wait->until)
      wait_until(*wait->until);
  } else if (auto* group = std::get_if<group_claim>(&decision)) {
    send_claim(*group);
  }
}

void shard_actor::send_claim(const group_claim& group) {
  auto now = database_now();
  claim_ = group;
  claim_sent_ = around_.time.now();
  claim_request request;
  request.shard = shard_.shard;
  request.epoch = epoch_;
  request.group_no = group.group_no;
  request.gate = upper_bound(gate_, pace_, position_, now + slot_horizon, group.total_cost);
  for (const auto& row : group.rows) {
    const auto& held = rows_.at(row.of.message);
    request.rows.push_back({row.of, row.stream, held.project, held.message->recipients, held.key});
  }
  around_.store.claim(address(), std::move(request));
}

void shard_actor::on_claimed(const group_claimed& answer) {
  if (!claim_ || claim_->group_no != answer.group_no)
    return;
  if (run_)
    run_->claim += around_.time.now() - claim_sent_;
  const auto& reply = *answer.reply;
  if (!reply) {
    around_.log.warn("a claim failed; asking again with the same group",
                     {{"shard", shard_.name.text()}, {"error", reply.failure().text}});
    policy_.on_claim_in_doubt(answer.group_no);
    on_database_error();
    return drive();
  }
  errors_in_a_row_ = 0;
  auto claimed = take_claimed(*reply);
  policy_.on_claimed(answer.group_no, claimed);
  on_reading({reply->route, clock_, nanoseconds{0}});
  if (!reply->still_owner) {
    around_.log.warn("the shard has another owner; stopping", {{"shard", shard_.name.text()}});
    disowned_ = true;
  }
  send_group(*reply, claimed);
  claim_.reset();
  drive();
}

/// Marks what the claim took and forgets the rest. Returns the ids in slot order.
std::vector<message_id> shard_actor::take_claimed(const claim_reply& reply) {
  std::unordered_map<message_id, const claimed_row*> taken;
  for (const auto& row : reply.rows)
    taken.emplace(row.of.message, &row);
  std::vector<message_id> claimed;
  for (const auto& row : claim_->rows) {
    auto found = taken.find(row.of.message);
    if (found == taken.end()) {
      rows_.erase(row.of.message);
      continue;
    }
    claimed.push_back(row.of.message);
    auto& held = rows_.at(row.of.message);
    held.draw_until = reply.route.read_at + slot_horizon;
    if (const auto& suppressed = found->second->suppressed; !suppressed.empty()) {
      auto rest = std::make_shared<outgoing_message>(*held.message);
      std::erase_if(rest->recipients, [&suppressed](const std::string& address) {
        return std::find(suppressed.begin(), suppressed.end(), address) != suppressed.end();
      });
      held.message = std::move(rest);
    }
  }
  around_.measured.group_size.observe(static_cast<double>(claimed.size()));
  around_.measured.skipped_in_claim.add(static_cast<double>(claim_->rows.size() - claimed.size()));
  if (run_) {
    ++run_->batches;
    run_->claimed += static_cast<std::int64_t>(claimed.size());
    run_->skipped += static_cast<std::int64_t>(claim_->rows.size() - claimed.size());
  }
  return claimed;
}

void shard_actor::send_group(const claim_reply& reply, const std::vector<message_id>& claimed) {
  if (draining_)
    return give_back(claimed, reason_code::node_stopping);
  if (!is_granted(reply.route.state))
    return give_back(claimed, reason_of(reply.route.state));
  std::vector<message_id> may_start, stopped;
  for (const auto& row : reply.rows)
    if (!row.may_start)
      stopped.push_back(row.of.message);
  for (auto id : claimed)
    if (std::find(stopped.begin(), stopped.end(), id) == stopped.end())
      may_start.push_back(id);
  give_back(stopped, reason_code::stream_stopped);
  send_rows(may_start, claim_->not_before, reason_code::slot_missed);
}

/// Whether what is claimed may still start. It has taken its part of the daily grant, so a route
/// that merely waits for more quota lets it go.
bool shard_actor::is_granted(route_state state) const {
  return state == route_state::running
         || (state == route_state::waiting && policy_.grant().is_limited());
}

/// What goes in one request each: one message, or as many as the provider takes at once.
std::vector<std::vector<message_id>> shard_actor::to_requests(
    const std::vector<message_id>& rows) const {
  const auto most = static_cast<std::size_t>(options_.policy.batch);
  std::vector<std::vector<message_id>> requests;
  std::optional<std::size_t> shared; ///< the request that others may still join
  for (auto id : rows) {
    if (shared && !rows_.at(id).alone && requests[*shared].size() < most) {
      requests[*shared].push_back(id);
      continue;
    }
    requests.push_back({id});
    if (most > 1 && !rows_.at(id).alone)
      shared = requests.size() - 1;
  }
  return requests;
}

/// Draws slots for claimed rows in order and hands them to the courier; those that get none before
/// the horizon go back.
void shard_actor::send_rows(const std::vector<message_id>& rows, database_instant not_before,
                            reason_code without_slot) {
  auto now = std::max(database_now(), not_before);
  const auto requests = to_requests(rows);
  std::vector<std::int32_t> costs;
  for (const auto& request : requests)
    costs.push_back(
        options_.policy.batch > 1
            ? 1
            : static_cast<std::int32_t>(rows_.at(request.front()).message->recipients.size()));
  auto slots = take_group(gate_, pace_, position_, now, costs);
  std::vector<send_order> orders;
  std::vector<message_id> unsent;
  for (std::size_t i = 0; i < requests.size(); ++i)
    for (auto id : requests[i]) {
      const auto& held = rows_.at(id);
      if (i >= slots.size() || slots[i].at > *held.draw_until) {
        unsent.push_back(id);
        continue;
      }
      orders.push_back(make_order(held, slots[i]));
      if (run_) {
        run_->pace += slots[i].at - now;
        ++run_->paced;
      }
    }
  give_back(unsent, without_slot);
  if (!orders.empty())
    around_.desk.submit(std::move(orders));
}

send_order shard_actor::make_order(const held_row& row, const slot& at) const {
  send_order order;
  order.shard = shard_.shard;
  order.epoch = epoch_;
  order.route = route_;
  order.stream = row.stream;
  order.grid_number = at.grid_number;
  order.at = clock_.boot_at(at.at);
  order.latest = clock_.boot_at(at.latest);
  order.slot = at.at;
  order.message = row.message;
  return order;
}

// Outcomes --------------------------------------------------------------------

void shard_actor::on_outcomes(const take_outcomes& arrived) {
  auto now = around_.time.now();
  std::vector<message_id> missed;
  for (const auto& delivery : *arrived.deliveries) {
    const auto& what = delivery.result;
    auto row = rows_.find(what.of.message);
    if (row == rows_.end() || row->second.ended || row->second.message->of != what.of)
      continue; // late news of an attempt that has ended: the recorder has it
    if (what.reason == reason_code::slot_missed) {
      missed.push_back(what.of.message);
      continue;
    }
    if (run_ && what.started_at) {
      run_->send += now - delivery.order.at;
      ++run_->answered;
    }
    row->second.ended = true;
    ++unrecorded_;
    on_outcome(what);
  }
  draw_again(missed);
  drive();
}

/// A slot that passed unused is lost, its message is not: while its claim is fresh enough it takes
/// the next free one. (Later it would escape a cancel or pause that counts on the horizon.)
void shard_actor::draw_again(const std::vector<message_id>& missed) {
  if (missed.empty())
    return;
  if (draining_ || disowned_)
    return give_back(missed, reason_code::slot_missed);
  if (!is_granted(reading_.state))
    return give_back(missed, reason_of(reading_.state));
  send_rows(missed, database_instant::min(), reason_code::slot_missed);
}

void shard_actor::on_outcome(const outcome& what) {
  const bool was_holding = policy_.hold().is_holding();
  policy_.on_outcome(what, database_now());
  if (policy_.hold().is_holding() != was_holding)
    tell(around_.quota, heed_trouble{was_holding ? std::string{} : what.diagnostic});
  if (run_)
    run_->count(what);
  heed(what);
}

void shard_actor::heed(const outcome& what) {
  switch (what.refused) {
  case refusal::none:
  case refusal::this_message:
    return;
  case refusal::daily_quota:
    policy_.grant().forfeit();
    break;
  case refusal::rate:
  case refusal::sending_paused:
  case refusal::stream:
    break;
  }
  const auto row = rows_.find(what.of.message);
  tell(around_.quota,
       heed_refusal{what.refused, what.diagnostic, what.retry_after.value_or(nanoseconds{0}),
                    row == rows_.end() ? stream_id{} : row->second.stream});
}

void shard_actor::give_back(const std::vector<message_id>& rows, reason_code reason) {
  if (rows.empty())
    return;
  std::vector<outcome> unsent;
  for (auto id : rows) {
    auto& held = rows_.at(id);
    outcome what;
    what.of = held.message->of;
    what.kind = outcome_kind::not_started;
    what.reason = reason;
    held.ended = true;
    ++unrecorded_;
    on_outcome(what);
    unsent.push_back(std::move(what));
  }
  tell(around_.recorder, record_unsent{shard_.shard, std::move(unsent), route_});
}

} // namespace paceline
