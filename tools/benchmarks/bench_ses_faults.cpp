/// Providers that misbehave, at a pace where each call counts.
#include "tools/benchmarks/benches.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/ses_stand_in.hpp"
#include "tools/benchmarks/site.hpp"

namespace paceline::bench {
namespace {

using std::chrono::steady_clock;

constexpr requirement none{bound::at_most, 0, false, true};

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

/// A node with one shard and its stand-in, running and past its first target's lead.
class fault_site {
public:
  fault_site(stage& with, cluster& on, const std::string& name, double rate,
             std::vector<std::string> overrides = {})
      : with_(with), provider_(with, on.folder(), name, stand_in_settings{rate, 1.15, 170, 0.1}),
        site_(with, on, settings_for(provider_, std::move(overrides))) {
    site_.start_node();
    with.sleep(std::chrono::seconds{3});
  }

  ses_stand_in& provider() { return provider_; }
  site& node() { return site_; }

  /// Until the campaign is over, or `holds`; throws after `limit`. An outage is no standstill.
  campaign_view wait(stream_id campaign, const std::function<bool(const campaign_view&)>& holds,
                     std::chrono::seconds limit) {
    const auto begin = steady_clock::now();
    while (true) {
      const auto now = site_.view(campaign);
      if (is_over(now) || (holds && holds(now)))
        return now;
      if (steady_clock::now() - begin > limit)
        throw std::runtime_error("the campaign is not over after " + std::to_string(limit.count())
                                 + " s: " + std::to_string(now.open) + " open");
      with_.progress(grouped(now.accepted) + " of " + grouped(now.audience) + " accepted, "
                     + grouped(now.unknown) + " unknown, " + grouped(now.throttled) + " throttled");
      with_.sleep(std::chrono::milliseconds{50});
    }
  }

private:
  static site_settings settings_for(const ses_stand_in& provider,
                                    std::vector<std::string> overrides) {
    site_settings wanted;
    wanted.shards = 1;
    wanted.ses = provider.place();
    wanted.overrides = std::move(overrides);
    return wanted;
  }

  stage& with_;
  ses_stand_in provider_;
  site site_;
};

/// Each message was taken once at most, and those that were accepted were taken.
void check_once(const ses_stand_in& provider, const campaign_view& end, samples& into,
                bench_report& report) {
  const auto seen = judge_pace(provider.ledger(), 1);
  into.add("duplicates", "", static_cast<double>(seen.repeats), none);
  if (seen.repeats != 0)
    report.failures.push_back(grouped(seen.repeats) + " messages were taken twice");
  if (end.accepted + end.unknown != end.audience)
    report.failures.push_back(grouped(end.accepted) + " accepted and " + grouped(end.unknown)
                              + " unknown of " + grouped(end.audience));
  if (end.accepted > seen.calls)
    report.failures.push_back("more accepted than the ledger holds");
}

} // namespace

bench_report run_ses_hang(stage& with) {
  constexpr double rate = 50;
  const std::int64_t messages = with.options().quick ? 1000 : 3000;
  bench_report report{"ses-hang", 1, {}, {}, {}};
  report.settings = {{"messages", grouped(messages)},
                     {"target", "50/s, 1 shard"},
                     {"fault", "a third of the calls hang for 30 s"},
                     {"in flight", "at most 1,000"}};
  cluster on;
  fault_site here(with, on, "hang", rate,
                  {"dispatch.min_in_flight_per_shard=1000", "dispatch.max_in_flight_per_shard=1000",
                   "dispatch.call_timeout_ms=60000"});
  here.provider().control(R"({"fault":"hang","share":0.333,"hang_ms":30000})");
  const auto campaign = here.node().send(messages);
  std::int64_t most_in_flight = 0;
  const auto end = here.wait(
      campaign,
      [&most_in_flight](const campaign_view& now) {
        most_in_flight = std::max(most_in_flight, now.in_flight);
        return false;
      },
      std::chrono::seconds{300});
  const auto seen = judge_pace(here.provider().ledger(), rate);
  samples found;
  found.add("mean_over_target", "", seen.mean_over_target.value_or(0),
            requirement{bound::at_least, 0.995});
  found.add("longest_gap", "ms", seen.longest_gap_ms);
  found.add("hung", "", static_cast<double>(here.provider().counter("unanswered")));
  found.add("most_in_flight", "", static_cast<double>(most_in_flight));
  found.add("unknown", "", static_cast<double>(end.unknown), none);
  check_once(here.provider(), end, found, report);
  here.node().stop_node();
  report.figures = found.figures();
  return report;
}

bench_report run_ses_cut(stage& with) {
  constexpr double before = 100, after = 20;
  constexpr std::chrono::seconds seconds_before{15}, grace{2};
  const std::int64_t messages = with.options().quick ? 1800 : 2300;
  bench_report report{"ses-cut", 1, {}, {}, {}};
  report.settings = {
      {"messages", grouped(messages)}, {"quota", "100/s, after 15 s 20/s"}, {"cached for", "60 s"}};
  cluster on;
  fault_site here(with, on, "cut", before);
  database watcher(here.node().dsn());
  const auto campaign = here.node().send(messages);
  with.sleep(seconds_before);
  here.provider().control(R"({"rate":20})");
  const auto cut = steady_clock::now();
  here.wait(
      campaign,
      [&watcher](const campaign_view&) {
        return watcher.run("SELECT max(max_rate_mhz) FROM routes").integer(0, 0) <= 20'000;
      },
      std::chrono::seconds{90});
  const auto refreshed = seconds_since(cut);
  with.sleep(grace);
  const auto throttled_before = here.provider().counter("throttled");
  const auto accepted_before = here.provider().counter("accepted");
  const auto begin = steady_clock::now();
  with.sleep(std::chrono::seconds{10});
  const auto accepted = here.provider().counter("accepted") - accepted_before;
  const auto rate_then = static_cast<double>(accepted) / seconds_since(begin);
  const auto late = here.provider().counter("throttled") - throttled_before;
  const auto end = here.wait(campaign, {}, std::chrono::seconds{300});
  samples found;
  found.add("refusals", "", static_cast<double>(here.provider().counter("throttled")),
            requirement{bound::at_most, 200});
  found.add("refreshed_after", "s", refreshed);
  found.add("refusals_2s_later", "", static_cast<double>(late), none);
  found.add("rate_2s_later", "1/s", rate_then, requirement{bound::at_least, 0.95 * after});
  found.add("unknown", "", static_cast<double>(end.unknown), none);
  check_once(here.provider(), end, found, report);
  here.node().stop_node();
  report.figures = found.figures();
  return report;
}

bench_report run_ses_down(stage& with) {
  constexpr double rate = 22;
  constexpr std::int64_t messages = 880; // 10 s before the outage, 30 s behind it
  constexpr double in_flight = 5;        // 22/s for 170 ms, and one
  const auto minutes = with.options().quick ? 1 : with.options().minutes;
  bench_report report{"ses-down", 1, {}, {}, {}};
  report.settings = {{"messages", grouped(messages)},
                     {"target", "22/s, 1 shard"},
                     {"fault", "500 to every call for " + std::to_string(minutes) + " min"}};
  cluster on;
  fault_site here(with, on, "down", rate);
  const auto campaign = here.node().send(messages);
  here.wait(
      campaign, [](const campaign_view& now) { return now.accepted >= 220; },
      std::chrono::seconds{60});
  here.provider().control(R"({"fault":"500","for":"all"})");
  with.note("ses-down: the provider is down");
  for (int second = 0; second < 60 * minutes; ++second)
    with.sleep(std::chrono::seconds{1});
  const auto during = here.node().view(campaign);
  here.provider().control(R"({"fault":"none"})");
  const auto back = steady_clock::now();
  here.wait(
      campaign, [&during](const campaign_view& now) { return now.accepted > during.accepted + 1; },
      std::chrono::seconds{180});
  const auto again_after = seconds_since(back);
  const auto end = here.wait(campaign, {}, std::chrono::seconds{300});
  samples found;
  found.add("unknown", "", static_cast<double>(end.unknown),
            requirement{bound::at_most, 20 + in_flight});
  found.add("calls_in_the_outage", "", static_cast<double>(here.provider().counter("unanswered")));
  found.add("sending_again_after", "s", again_after);
  found.add("left_behind", "", static_cast<double>(end.audience - end.accepted - end.unknown),
            none);
  check_once(here.provider(), end, found, report);
  here.node().stop_node();
  report.figures = found.figures();
  return report;
}

} // namespace paceline::bench
