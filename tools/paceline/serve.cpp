#include "tools/paceline/serve.hpp"

#include <csignal>
#include <unistd.h>

#include <exception>
#include <optional>

#include "actors/node.hpp"

namespace paceline {
namespace {

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
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

/// What can hang on the way out (a library's thread, a database that does not answer) must not keep
/// the process: the kernel ends it.
void guard_exit() {
  ::alarm(20);
}

} // namespace

int run_serve(const settings& config, logger& log) {
  auto signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  auto identity = enter_database(config, PACELINE_VERSION, log);
  if (!identity) {
    log.error("the node can't start: " + identity.failure().text);
    return 1;
  }
  metrics measured;
  std::optional<running_node> node;
  try {
    node.emplace(config, *identity, log, measured);
  } catch (const std::exception& failure) {
    log.error(std::string{"the node can't start: "} + failure.what());
    return 1;
  }
  log.info("serving", {{"node", identity->name},
                       {"node_id", identity->id.value()},
                       {"routes", identity->routes.size()}});
  int signal = 0;
  sigwait(&signals, &signal);
  log.info("draining: nothing new is claimed, calls in flight finish");
  auto clean = drain(*node, signals, config.node.drain_timeout);
  guard_exit();
  node.reset();
  if (clean)
    log.info("drained; nothing is in doubt");
  else
    log.error("not everything came home in time; what is in doubt becomes acceptance_unknown");
  return clean ? 0 : 1;
}

} // namespace paceline
