#include "tools/benchmarks/benches.hpp"

#include <filesystem>
#include <fstream>

#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/ses_floor.hpp"
#include "tools/benchmarks/ses_stand_in.hpp"
#include "tools/benchmarks/site.hpp"

namespace paceline::bench {
namespace {

constexpr requirement none{bound::at_most, 0, false, true};

/// How many of a process's threads are called so.
double threads_named(pid_t process, const std::string& name) {
  double count = 0;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::string text;
    std::getline(std::ifstream(task.path() / "comm"), text);
    count += text == name ? 1 : 0;
  }
  return count;
}

/// Calls per second from the first arrival at the stand-in to the last.
double rate_of(const ses_stand_in& provider, std::int64_t messages, const std::string& who,
               bench_report& report) {
  const auto seen = judge_pace(provider.ledger(), 5000);
  if (seen.calls != messages || seen.repeats != 0)
    report.failures.push_back(who + ": the ledger holds " + grouped(seen.calls) + " calls, "
                              + grouped(seen.repeats) + " of them repeats, for " + grouped(messages)
                              + " messages");
  return seen.mean_per_second.value_or(0);
}

/// Octets of the node's requests, so that the floor sends the same.
std::size_t request_size(stage& with, cluster& on) {
  ses_stand_in provider(with, on.folder(), "size", {});
  site_settings wanted;
  wanted.ses = provider.place();
  site here(with, on, wanted);
  here.start_node();
  here.watch(here.send(100), std::chrono::milliseconds{50});
  here.stop_node();
  return static_cast<std::size_t>(provider.counter("body_bytes") / provider.counter("sends"));
}

void measure_floor(stage& with, cluster& on, std::int64_t messages, std::size_t octets,
                   samples& into, bench_report& report) {
  // It paces itself and has no answer to a refusal: connections that were slow to open may let a
  // few hundred arrive at once, which is no fault of what is measured.
  stand_in_settings without_quota;
  without_quota.rate = 100'000;
  ses_stand_in provider(with, on.folder(), "floor", without_quota);
  transfer_settings settings{provider.place(), 5000, octets};
  const auto cpu_before = provider.cpu_seconds();
  const auto end = run_ses_floor(on, settings, messages);
  into.add("floor_rate", "1/s", rate_of(provider, messages, "floor", report));
  into.add("floor_cpu_per_message", "us", end.cpu_us_per_message);
  into.add("floor_provider_cpu_per_message", "us",
           (provider.cpu_seconds() - cpu_before) * 1e6 / static_cast<double>(messages));
  std::filesystem::remove(on.folder() + "/floor.ses-ledger");
}

void measure_node(stage& with, cluster& on, int shards, std::int64_t messages, samples& into,
                  bench_report& report) {
  const auto suffix =
      shards == 1 ? std::string{"_1shard"} : "_" + std::to_string(shards) + "shards";
  const auto files = "node" + suffix;
  ses_stand_in provider(with, on.folder(), files, {});
  site_settings wanted;
  wanted.shards = shards;
  wanted.ses = provider.place();
  site here(with, on, wanted);
  here.start_node();
  // A new route's first target starts 1.25 s ahead; asked for is what a running node does.
  with.sleep(std::chrono::seconds{3});
  on.settle();
  const auto process = here.node_id();
  const auto cpu_before = cpu_seconds_of(process), provider_before = provider.cpu_seconds();
  memory_use most;
  double couriers = 0;
  const auto campaign = here.send(messages);
  const auto end = here.watch(campaign, std::chrono::milliseconds{250},
                              [&most, &couriers, process](const campaign_view&) {
                                most.raise_to(memory_of(process));
                                couriers = std::max(couriers, threads_named(process, "courier"));
                              });
  const auto count = static_cast<double>(messages);
  into.add("rate" + suffix, "1/s", rate_of(provider, messages, "node" + suffix, report));
  into.add(
      "failures" + suffix, "",
      static_cast<double>(end.campaign.audience - end.campaign.accepted + end.campaign.throttled),
      none);
  into.add("courier_threads" + suffix, "", couriers, requirement{bound::at_most, 1, false, true});
  into.add("rss" + suffix, "MiB", most.rss_mb, requirement{bound::at_most, 200});
  into.add("uss" + suffix, "MiB", most.uss_mb);
  into.add("node_cpu_per_message" + suffix, "us",
           (cpu_seconds_of(process) - cpu_before) * 1e6 / count);
  into.add("provider_cpu_per_message" + suffix, "us",
           (provider.cpu_seconds() - provider_before) * 1e6 / count);
  here.stop_node();
  for (const auto& problem : problems_of(end.campaign, nullptr))
    report.failures.push_back(problem);
  std::filesystem::remove(on.folder() + "/" + files + ".ses-ledger");
}

} // namespace

bench_report run_ses(stage& with) {
  bench_report report{"ses", with.options().full ? 3 : 1, {}, {}, {}};
  const std::int64_t messages = with.options().quick ? 20'000 : 150'000;
  cluster on;
  with.note("ses: how large the requests are");
  const auto octets = request_size(with, on);
  report.settings = {{"messages", grouped(messages)},
                     {"request", std::to_string(octets) + " octets"},
                     {"provider", "SES stand-in over TLS, 170 ms, quota 5,000/s"},
                     {"floor", "libcurl multi, signed, paced at 5,000/s; libpq, groups of 100"}};
  samples found;
  for (int run = 1; run <= report.runs; ++run) {
    with.note("ses: floor");
    measure_floor(with, on, messages, octets, found, report);
    for (const int shards : {1, 4}) {
      with.note("ses: " + std::to_string(shards) + (shards == 1 ? " shard" : " shards"));
      measure_node(with, on, shards, messages, found, report);
    }
  }
  for (auto one : found.figures()) {
    if (one.name.starts_with("rate_")) {
      one.floor = found.of("floor_rate")->median;
      one.required = requirement{bound::at_least, 0.85, true};
    }
    report.figures.push_back(one);
    if (one.name == "rate_4shards") { // the name that others rely on
      one.name = "rate";
      report.figures.insert(report.figures.begin(), one);
    }
  }
  return report;
}

} // namespace paceline::bench
