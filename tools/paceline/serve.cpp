#include "tools/paceline/serve.hpp"

#include <csignal>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <initializer_list>
#include <optional>

#include "actors/node.hpp"
#include "tools/paceline/live_changes.hpp"

namespace paceline {
namespace {

/// An operator wants this node to end: sent by the process to itself. Not among those that cut a
/// drain short, so that it can't do so when it comes together with SIGTERM.
constexpr int stop_signal = SIGUSR1;

sigset_t signals_of(std::initializer_list<int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : numbers)
    sigaddset(&signals, number);
  return signals;
}

/// Drains, listening for a second signal. False: not all came home.
bool drain(running_node& node, const sigset_t& signals, std::chrono::milliseconds patience) {
  node.drain();
  auto slice = std::chrono::milliseconds{100};
  for (auto waited = std::chrono::milliseconds{0}; waited < patience; waited += slice) {
    if (node.wait_drained(slice))
      return true;
    timespec none{};
    if (sigtimedwait(&signals, nullptr, &none) > 0)
      return false;
  }
  return false;
}

/// The configuration that the node runs with, and its changes by SIGHUP.
class live_settings {
public:
  live_settings(const settings& config, const read_again_function& read_again,
                node_service& service, logger& log)
      : in_effect_(config), read_again_(read_again), service_(service), log_(log) {}

  void read_again(running_node& node) {
    const auto read = read_again_();
    if (const auto* errors = std::get_if<std::vector<config_error>>(&read))
      return say_errors(*errors);
    const auto& wanted = std::get<settings>(read);
    const auto changes = find_live_changes(in_effect_, wanted);
    take_live_values(in_effect_, wanted);
    apply(node);
    for (const auto& warning : wanted.warnings)
      log_.warn(warning);
    for (const auto& change : changes.live)
      log_.info("an option was changed",
                {{"option", change.key}, {"from", change.before}, {"to", change.after}});
    for (const auto& key : changes.for_restart)
      log_.warn("an option was changed that takes effect at the next start only",
                {{"option", key}});
    log_.info("the configuration was read again",
              {{"applied", changes.live.size()}, {"for_restart", changes.for_restart.size()}});
  }

private:
  void say_errors(const std::vector<config_error>& errors) {
    for (const auto& wrong : errors)
      log_.error(wrong.text());
    log_.error("the configuration was read again and has errors; everything stays as it is",
               {{"errors", errors.size()}});
  }

  /// Everything that takes over values while it runs, in one place.
  void apply(running_node& node) {
    log_.set_level(in_effect_.log.level);
    node.use_rates(in_effect_);
    service_.reload_tls();
  }

  settings in_effect_;
  const read_again_function& read_again_;
  node_service& service_;
  logger& log_;
};

/// Serves until it is time to drain. A terminal that has gone is somebody who has left: SIGHUP then
/// means what it always did.
void serve_until_stopped(running_node& node, live_settings& live, const sigset_t& signals) {
  const bool had_terminal = ::isatty(STDERR_FILENO) == 1;
  while (true) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGHUP || (had_terminal && ::isatty(STDERR_FILENO) != 1))
      return;
    live.read_again(node);
  }
}

/// Large blocks go back to the kernel when they are freed: without this the allocator learns from a
/// few large requests to keep such blocks, 16 MiB each in several arenas. What a batch of some
/// hundred kilobytes needs is kept: giving that back and fetching it again each time costs more.
void bound_idle_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 2 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

/// As many descriptors as the configured connections may need; a shell often allows 1,024.
void raise_descriptor_limit(const settings& config, logger& log) {
  constexpr std::int64_t others = 64; // the log, the ledger, epoll, sockets of providers
  auto wanted = others + connection_demand(config);
  for (const listener_settings* one :
       {static_cast<const listener_settings*>(&config.api), &config.feedback, &config.admin})
    wanted += one->listen.empty() ? 0 : one->max_connections;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (static_cast<rlim_t>(wanted) > limit.rlim_max)
    log.warn("the process may open fewer files than connections are configured; raise its limit "
             "(LimitNOFILE) or lower max_connections",
             {{"limit", static_cast<std::uint64_t>(limit.rlim_max)}, {"configured", wanted}});
}

/// What can hang on the way out (a library's thread, a database that does not answer) must not keep
/// the process: the kernel ends it.
void guard_exit() {
  ::alarm(20);
}

void say_serving(const node_identity& identity, const node_service& service, logger& log) {
  std::vector<log_field> fields{{"node", identity.name},
                                {"node_id", identity.id.value()},
                                {"routes", identity.routes.size()}};
  for (auto& address : service.addresses())
    fields.push_back(std::move(address));
  log.info("serving", fields);
}

} // namespace

int run_serve(const settings& config, const read_again_function& read_again, logger& log) {
  const auto all = signals_of({SIGTERM, SIGINT, SIGHUP, stop_signal});
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  bound_idle_memory();
  raise_descriptor_limit(config, log);
  metrics measured;
  machine_boot_time time;
  node_health health{time};
  auto service = node_service::listen(config, log, measured, health);
  if (!service) {
    log.error("the node can't start: " + service.failure().text);
    return 1;
  }
  auto identity = enter_database(config, PACELINE_VERSION, log);
  if (!identity) {
    log.error("the node can't start: " + identity.failure().text);
    return 1;
  }
  std::optional<running_node> node;
  try {
    node.emplace(config, *identity, node_surroundings{log, measured, health, **service, [] {
                                                        ::kill(::getpid(), stop_signal);
                                                      }});
  } catch (const std::exception& failure) {
    log.error(std::string{"the node can't start: "} + failure.what());
    return 1;
  }
  say_serving(*identity, **service, log);
  live_settings live{config, read_again, **service, log};
  serve_until_stopped(*node, live, all);
  log.info("draining: nothing new is claimed, calls in flight finish");
  auto clean = drain(*node, signals_of({SIGTERM, SIGINT}), config.node.drain_timeout);
  guard_exit();
  node.reset();
  if (clean)
    log.info("drained; nothing is in doubt");
  else
    log.error("not everything came home in time; what is in doubt becomes acceptance_unknown");
  return clean ? 0 : 1;
}

} // namespace paceline
