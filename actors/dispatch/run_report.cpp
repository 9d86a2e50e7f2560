#include "actors/dispatch/run_report.hpp"

namespace paceline {
namespace {

double to_ms(nanoseconds duration) {
  return static_cast<double>(duration.count()) / 1e6;
}

double mean_ms(nanoseconds sum, std::int64_t of) {
  return of == 0 ? 0 : to_ms(sum) / static_cast<double>(of);
}

} // namespace

void run_report::count(const outcome& what) {
  switch (what.kind) {
  case outcome_kind::accepted:
    ++sent;
    break;
  case outcome_kind::throttled:
  case outcome_kind::not_started:
    ++deferred;
    break;
  case outcome_kind::rejected:
  case outcome_kind::unknown:
    ++failed;
    break;
  }
}

void log_run(logger& log, const std::string& shard, const run_report& run, boot_instant now,
             std::uint64_t statements, rate quota, rate share) {
  log.event(log_level::info, "DISPATCH_RUN",
            {{"shard", shard},
             {"claimed", run.claimed},
             {"sent", run.sent},
             {"deferred", run.deferred},
             {"skipped", run.skipped},
             {"failed", run.failed},
             {"batches", run.batches},
             {"statements", statements - run.statements_before},
             {"run_ms", to_ms(now - run.began)},
             {"reserve_ms", to_ms(run.reserve)},
             {"prepare_ms", to_ms(run.prepare)},
             {"claim_ms", to_ms(run.claim)},
             {"pace_ms", mean_ms(run.pace, run.paced)},
             {"send_ms", mean_ms(run.send, run.answered)},
             {"quota", quota.per_second()},
             {"rate", share.per_second()},
             {"braked", run.braked}});
}

} // namespace paceline
