#include "test/support/virtual_desk.hpp"

#include <algorithm>

#include "actors/answers.hpp"
#include "actors/database_post.hpp"

namespace paceline::test {

class virtual_desk::scripted_provider final : public provider {
public:
  explicit scripted_provider(virtual_desk& desk) : desk_(desk) {}

  void start(call& what, answer_function answered) override {
    if (!what.may_write()) {
      provider_answer refused;
      refused.kind = outcome_kind::not_started;
      return answered(std::move(refused));
    }
    provider_answer given;
    given.kind = outcome_kind::accepted;
    if (desk_.answer)
      given = desk_.answer(what);
    desk_.ledger.push_back({what.message().of, what.started_at(), given.kind});
    desk_.at(desk_.now() + desk_.latency,
             [answered = std::move(answered), given = std::move(given)] { answered(given); });
  }

  void ask_quota(quota_function answered) override {
    answered(error{error_kind::unavailable, "scripted"});
  }

  void ask_health(std::function<void(bool)> answered) override { answered(desk_.lives); }

private:
  virtual_desk& desk_;
};

virtual_desk::virtual_desk(virtual_time& time)
    : time_(time), core_(courier_options{}, *this, *this) {}
virtual_desk::~virtual_desk() = default;

void virtual_desk::add_route(route_id route, call_instruments measured) {
  core_.add_route(route, std::make_unique<scripted_provider>(*this), std::move(measured));
}

void virtual_desk::submit(std::vector<send_order> orders) {
  core_.submit(std::move(orders));
  advance();
}

void virtual_desk::purge(shard_id shard, reason_code reason) {
  purges.emplace_back(shard, reason);
  core_.purge(shard, reason);
  advance();
}

void virtual_desk::set_deadline(shard_id shard, epoch_id epoch, boot_instant deadline) {
  deadlines.push_back({shard, epoch, deadline});
  core_.set_deadline(shard, epoch, deadline);
  advance();
}

void virtual_desk::refuse_grids(route_id route, std::int64_t grid_number) {
  refused_up_to = grid_number;
  core_.refuse_grids(route, grid_number);
  advance();
}

void virtual_desk::ask_quota(const caf::actor_addr&, route_id) {
  ++quota_questions;
}

void virtual_desk::stall(nanoseconds length) {
  stalled_until_ = now() + length;
}

void virtual_desk::deliver(shard_id shard, std::vector<delivery> outcomes) {
  tell(recorder_,
       bring_outcomes{shard, std::make_shared<const std::vector<delivery>>(std::move(outcomes))});
}

void virtual_desk::at(boot_instant when, std::function<void()> task) {
  time_.at(when, [this, task = std::move(task)] {
    task();
    advance();
  });
}

/// As the courier's thread: works when there is something to do, unless it is made to stand still.
void virtual_desk::advance() {
  auto next = core_.next_event();
  if (next && *next <= now() && now() >= stalled_until_) {
    core_.advance();
    next = core_.next_event();
  }
  if (!next)
    return;
  auto when = std::max({*next, stalled_until_, now()});
  if (armed_ && *armed_ <= when)
    return;
  armed_ = when;
  time_.at(when, [this, number = ++wake_number_] {
    if (number != wake_number_)
      return; // an earlier instant was set since
    armed_.reset();
    advance();
  });
}

} // namespace paceline::test
