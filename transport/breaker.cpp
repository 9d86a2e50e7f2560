#include "transport/breaker.hpp"

#include <algorithm>

#include "storage/model/jitter.hpp"

namespace paceline {

health_sign sign_of(const outcome& what) {
  switch (what.kind) {
  case outcome_kind::accepted:
    return health_sign::good;
  case outcome_kind::unknown:
    return health_sign::hard_failure_unknown;
  case outcome_kind::throttled:
    return what.reason == reason_code::provider_unavailable ? health_sign::hard_failure_untaken
                                                            : health_sign::answered;
  case outcome_kind::rejected:
    return health_sign::answered;
  case outcome_kind::not_started:
    return what.reason == reason_code::provider_unreachable ? health_sign::hard_failure_untaken
                                                            : health_sign::nothing;
  }
  return health_sign::nothing;
}

breaker::permission breaker::may_start(boot_instant now) const {
  switch (state_) {
  case breaker_state::closed:
    return permission::go;
  case breaker_state::waiting:
    return now >= probe_at_ ? permission::probe : permission::no;
  case breaker_state::probing:
  case breaker_state::stopped:
    return permission::no;
  }
  return permission::no;
}

void breaker::on_probe_started() {
  if (state_ == breaker_state::waiting)
    state_ = breaker_state::probing;
}

void breaker::on_outcome(const outcome& what, bool is_probe, boot_instant now,
                         std::uint64_t random) {
  const health_sign sign = sign_of(what);
  if (state_ == breaker_state::closed) {
    if (sign != health_sign::answered && sign != health_sign::nothing)
      on_counted(sign != health_sign::good, now, random);
  } else if (state_ == breaker_state::probing && is_probe) {
    // Late outcomes of calls from before the opening say nothing new and are passed over.
    on_probe_sign(sign, now, random);
  }
}

void breaker::on_counted(bool hard, boot_instant now, std::uint64_t random) {
  recent_.push_back(hard);
  if (recent_.size() > static_cast<std::size_t>(settings_.window))
    recent_.erase(recent_.begin());
  in_a_row_ = hard ? in_a_row_ + 1 : 0;
  const auto failures = static_cast<std::int32_t>(std::ranges::count(recent_, true));
  if (in_a_row_ < settings_.failures_in_a_row && failures * 2 < settings_.window)
    return;
  budget_left_ = std::max(0, settings_.unknown_budget - failures);
  wait_ = settings_.first_wait;
  open(now, random);
}

void breaker::on_probe_sign(health_sign sign, boot_instant now, std::uint64_t random) {
  switch (sign) {
  case health_sign::good:
    close();
    return;
  case health_sign::hard_failure_unknown:
    --budget_left_;
    [[fallthrough]];
  case health_sign::hard_failure_untaken:
    wait_ = std::min(wait_ * 2, settings_.longest_wait);
    open(now, random);
    return;
  case health_sign::answered:
    // It works as far as it goes; a full close needs an acceptance, so try the next one soon.
    state_ = breaker_state::waiting;
    probe_at_ = now + full_jitter(settings_.first_wait, random);
    return;
  case health_sign::nothing:
    state_ = breaker_state::waiting;
    probe_at_ = now;
    return;
  }
}

void breaker::open(boot_instant now, std::uint64_t random) {
  state_ = budget_left_ > 0 ? breaker_state::waiting : breaker_state::stopped;
  probe_at_ = now + full_jitter(wait_, random);
}

void breaker::close() {
  state_ = breaker_state::closed;
  recent_.clear();
  in_a_row_ = 0;
  wait_ = {};
}

void breaker::on_provider_alive(boot_instant now) {
  if (state_ == breaker_state::closed)
    return;
  budget_left_ = settings_.unknown_budget;
  wait_ = settings_.first_wait;
  if (state_ != breaker_state::probing) {
    state_ = breaker_state::waiting;
    probe_at_ = now;
  }
}

} // namespace paceline
