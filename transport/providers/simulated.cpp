#include "transport/providers/simulated.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "transport/providers/ledger.hpp"
#include "transport/providers/token_bucket.hpp"

namespace paceline {
namespace {

using std::chrono::seconds;

constexpr std::string_view simulator_domain = "@simulator.paceline.test";
constexpr auto hang_time = seconds{60};
constexpr int slow_factor = 10;
constexpr auto day = std::chrono::hours{24};

enum class behaviour {
  success,
  throttle,
  daily_quota,
  paused,
  reject,
  error,
  timeout,
  hang,
  disconnect,
  unreachable,
  malformed,
  slow,
  once_throttle,
};

struct behaviour_name {
  std::string_view local_part;
  behaviour what;
};

constexpr std::array behaviours{
    behaviour_name{"success", behaviour::success},
    behaviour_name{"throttle", behaviour::throttle},
    behaviour_name{"daily-quota", behaviour::daily_quota},
    behaviour_name{"paused", behaviour::paused},
    behaviour_name{"reject", behaviour::reject},
    behaviour_name{"error", behaviour::error},
    behaviour_name{"timeout", behaviour::timeout},
    behaviour_name{"hang", behaviour::hang},
    behaviour_name{"disconnect", behaviour::disconnect},
    behaviour_name{"unreachable", behaviour::unreachable},
    behaviour_name{"malformed", behaviour::malformed},
    behaviour_name{"slow", behaviour::slow},
    behaviour_name{"once-throttle", behaviour::once_throttle},
};

behaviour behaviour_of(std::string_view address) {
  if (!address.ends_with(simulator_domain))
    return behaviour::success;
  auto local_part = address.substr(0, address.size() - simulator_domain.size());
  local_part = local_part.substr(0, local_part.find('+'));
  for (const auto& known : behaviours)
    if (known.local_part == local_part)
      return known.what;
  return behaviour::success;
}

/// Of several recipients the first that asks for something special decides.
behaviour behaviour_of(const outgoing_message& message) {
  for (const auto& address : message.recipients)
    if (auto what = behaviour_of(address); what != behaviour::success)
      return what;
  return behaviour::success;
}

provider_answer answer_of(outcome_kind kind, reason_code reason, refusal refused,
                          std::string diagnostic) {
  provider_answer answer;
  answer.kind = kind;
  answer.reason = reason;
  answer.refused = refused;
  answer.diagnostic = std::move(diagnostic);
  return answer;
}

provider_answer throttled(refusal refused) {
  switch (refused) {
  case refusal::daily_quota:
    return answer_of(outcome_kind::throttled, reason_code::provider_daily_quota, refused,
                     "429 daily quota exceeded");
  case refusal::sending_paused:
    return answer_of(outcome_kind::throttled, reason_code::provider_sending_paused, refused,
                     "403 sending paused for this account");
  case refusal::none:
  case refusal::rate:
  case refusal::this_message:
  case refusal::stream:
    break;
  }
  return answer_of(outcome_kind::throttled, reason_code::provider_throttled, refusal::rate,
                   "429 maximum send rate exceeded");
}

provider_answer unknown(reason_code reason, std::string diagnostic) {
  return answer_of(outcome_kind::unknown, reason, refusal::none, std::move(diagnostic));
}

/// Recipients taken in the last 24 hours, by the minute.
class daily_count {
public:
  std::int64_t at(boot_instant now) {
    while (!minutes_.empty() && minutes_.front().begin + day <= now) {
      total_ -= minutes_.front().count;
      minutes_.pop_front();
    }
    return total_;
  }

  void add(std::int64_t count, boot_instant now) {
    if (minutes_.empty() || now - minutes_.back().begin >= std::chrono::minutes{1})
      minutes_.push_back(minute{now, 0});
    minutes_.back().count += count;
    total_ += count;
  }

private:
  struct minute {
    boot_instant begin;
    std::int64_t count = 0;
  };
  std::deque<minute> minutes_;
  std::int64_t total_ = 0;
};

class simulated_provider final : public provider {
public:
  simulated_provider(reactor& loop, const simulated_options& options)
      : loop_(loop), options_(options), ledger_(options.ledger, options.node, options.route),
        // A provider tolerates somewhat more than its quota, and short bursts.
        bucket_(options.tolerance * options.quota.per_second(),
                3 + 0.05 * options.quota.per_second(), loop.now()),
        generator_(options.seed) {}

  void start(call& what, answer_function answered) override;
  void ask_quota(quota_function answered) override;

private:
  /// Nothing if the quota has room: then it is used.
  std::optional<provider_answer> quota_refusal(std::int64_t recipients);
  std::optional<provider_answer> refusal_for(behaviour asked, const outgoing_message& message);
  void accept(behaviour asked, const call& what, answer_function answered);
  provider_answer accepted_answer(const attempt& of);
  nanoseconds draw_latency();
  void answer_in(nanoseconds delay, answer_function answered, provider_answer answer);

  reactor& loop_;
  simulated_options options_;
  ledger ledger_;
  token_bucket bucket_;
  daily_count sent_;
  std::unordered_set<message_id> throttled_once_;
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
};

void simulated_provider::start(call& what, answer_function answered) {
  const auto& message = what.message();
  auto asked = behaviour_of(message);
  if (asked == behaviour::unreachable) {
    answer_in(draw_latency(), std::move(answered),
              answer_of(outcome_kind::not_started, reason_code::provider_unreachable, refusal::none,
                        "connection refused"));
    return;
  }
  if (!what.may_write()) {
    provider_answer unsent;
    unsent.kind = outcome_kind::not_started;
    answered(std::move(unsent));
    return;
  }
  if (auto refused = refusal_for(asked, message)) {
    answer_in(draw_latency(), std::move(answered), std::move(*refused));
    return;
  }
  accept(asked, what, std::move(answered));
}

std::optional<provider_answer> simulated_provider::quota_refusal(std::int64_t recipients) {
  auto now = loop_.now();
  if (options_.daily_quota > 0 && sent_.at(now) + recipients > options_.daily_quota)
    return throttled(refusal::daily_quota);
  if (!bucket_.take(recipients, now))
    return throttled(refusal::rate);
  return std::nullopt;
}

std::optional<provider_answer> simulated_provider::refusal_for(behaviour asked,
                                                               const outgoing_message& message) {
  if (asked == behaviour::throttle)
    return throttled(refusal::rate);
  if (asked == behaviour::daily_quota)
    return throttled(refusal::daily_quota);
  if (asked == behaviour::paused)
    return throttled(refusal::sending_paused);
  if (asked == behaviour::once_throttle && throttled_once_.insert(message.of.message).second)
    return throttled(refusal::rate);
  if (auto refused = quota_refusal(static_cast<std::int64_t>(message.recipients.size())))
    return refused;
  if (asked == behaviour::reject)
    return answer_of(outcome_kind::rejected, reason_code::provider_rejected, refusal::this_message,
                     "400 message rejected");
  return std::nullopt;
}

void simulated_provider::accept(behaviour asked, const call& what, answer_function answered) {
  const auto& message = what.message();
  auto is = [asked](behaviour other) { return asked == other; };
  bool unanswered = is(behaviour::error) || is(behaviour::timeout) || is(behaviour::hang)
                    || is(behaviour::disconnect) || is(behaviour::malformed);
  if (!ledger_.append(message.of, what.started_at(), message.recipients.size(), unanswered)) {
    answer_in(draw_latency(), std::move(answered),
              unknown(reason_code::provider_server_error,
                      std::string{"500 ledger: "} + std::strerror(errno)));
    return;
  }
  sent_.add(static_cast<std::int64_t>(message.recipients.size()), loop_.now());
  auto latency = draw_latency();
  if (is(behaviour::timeout))
    return; // the connection stays open and silent for ever
  if (is(behaviour::error))
    answer_in(latency, std::move(answered),
              unknown(reason_code::provider_server_error, "500 internal failure"));
  else if (is(behaviour::disconnect))
    answer_in(latency, std::move(answered),
              unknown(reason_code::provider_connection_lost, "connection reset by peer"));
  else if (is(behaviour::malformed))
    answer_in(latency, std::move(answered),
              unknown(reason_code::provider_server_error, "200 with an unreadable body"));
  else if (is(behaviour::hang))
    answer_in(hang_time, std::move(answered), accepted_answer(message.of));
  else
    answer_in(is(behaviour::slow) ? slow_factor * latency : latency, std::move(answered),
              accepted_answer(message.of));
}

provider_answer simulated_provider::accepted_answer(const attempt& of) {
  provider_answer answer;
  answer.kind = outcome_kind::accepted;
  answer.provider_id =
      "sim-" + std::to_string(of.message.value()) + "-" + std::to_string(of.version);
  return answer;
}

/// Log-normal with mean `latency`: real latencies have a long right side and no negative one.
nanoseconds simulated_provider::draw_latency() {
  if (options_.latency <= nanoseconds{0} || options_.jitter <= 0)
    return std::max(options_.latency, nanoseconds{0});
  auto spread = options_.jitter;
  auto factor = std::exp(spread * normal_(generator_) - spread * spread / 2);
  return nanoseconds{
      static_cast<std::int64_t>(static_cast<double>(options_.latency.count()) * factor)};
}

void simulated_provider::answer_in(nanoseconds delay, answer_function answered,
                                   provider_answer answer) {
  if (delay <= nanoseconds{0}) {
    answered(std::move(answer));
    return;
  }
  loop_.at(loop_.now() + delay,
           [answered = std::move(answered), answer = std::move(answer)]() mutable {
             answered(std::move(answer));
           });
}

void simulated_provider::ask_quota(quota_function answered) {
  quota_reading reading;
  reading.max_send_rate = options_.quota;
  reading.max_24h = options_.daily_quota > 0 ? options_.daily_quota : -1;
  reading.sent_24h = sent_.at(loop_.now());
  auto delay = draw_latency();
  if (delay <= nanoseconds{0}) {
    answered(reading);
    return;
  }
  loop_.at(loop_.now() + delay, [answered = std::move(answered), reading] { answered(reading); });
}

} // namespace

std::unique_ptr<provider> make_simulated_provider(reactor& loop, const simulated_options& options) {
  return std::make_unique<simulated_provider>(loop, options);
}

} // namespace paceline
