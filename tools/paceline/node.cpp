#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <memory>

#include "config/text.hpp"
#include "storage/operations.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/interrupt.hpp"
#include "tools/paceline/nodes.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/overview_text.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds poll{200};
constexpr std::chrono::seconds line_every{2};

struct node_options {
  std::string node, timeout = "1m";
  bool as_json = false;
};

int run_list(session& on, bool as_json) {
  const auto nodes = list_nodes(on);
  if (!nodes)
    return say_error(nodes.failure());
  json_text out;
  nodes_json(out, *nodes);
  print(as_json ? out.line() : nodes_text(*nodes));
  return exit_fine;
}

std::string described(const node_status& node) {
  return std::to_string(node.id.value()) + " (" + printable(node.name) + ")";
}

int tell_end(const node_status& node, bool as_json) {
  if (as_json) {
    json_text out;
    out.begin_object().id("node", node.id).member("name", node.name);
    print(out.member("state", node_state(node)).end_object().line());
  } else {
    print("Node " + described(node) + " has drained and stopped.\n");
  }
  return exit_fine;
}

/// Until the node has left, with a line of progress now and then.
int wait_for_end(session& on, node_id which, nanoseconds patience, bool as_json) {
  interrupt_watch interrupts;
  const auto begin = steady_clock::now();
  auto next_line = begin + line_every;
  while (true) {
    const auto node = show_node(on, which);
    if (!node)
      return say_error(node.failure());
    if (node->has_stopped)
      return tell_end(*node, as_json);
    const auto now = steady_clock::now();
    if (now - begin >= patience) {
      say("node " + described(*node) + " has not stopped in time: it was last heard of "
          + seconds_text(node->seen_ago_s) + " ago and owns " + counted(node->shards, "shard")
          + ". It is still asked to.");
      return exit_failed;
    }
    if (now >= next_line) {
      next_line = now + line_every;
      say("node " + described(*node) + " drains: " + counted(node->shards, "shard") + ", "
          + counted(node->in_flight, "call") + " in flight");
    }
    if (interrupts.sleep(poll)) {
      say("stopped waiting; the node drains all the same");
      return exit_interrupted;
    }
  }
}

int run_stop(session& on, const node_options& options, nanoseconds patience) {
  const auto nodes = list_nodes(on);
  if (!nodes)
    return say_error(nodes.failure());
  const auto node = pick_node(*nodes, options.node);
  if (!node)
    return say_error(node.failure());
  if (node_state(*node) == "silent") {
    say("node " + described(*node) + " was last heard of " + seconds_text(node->seen_ago_s)
        + " ago: it has ended or is cut off from the database. There is nobody to ask.");
    return exit_failed;
  }
  if (const auto asked = request_stop(on, node->id, operator_name()); !asked)
    return say_error(asked.failure());
  return wait_for_end(on, node->id, patience, options.as_json);
}

void add_list(CLI::App& node, program& with) {
  auto* const list = node.add_subcommand("list", "Nodes that run, and those not heard of lately");
  const auto as_json = std::make_shared<bool>(false);
  list->add_flag("--json", *as_json, "Print JSON");
  list->footer("STATE is running, stopping (asked to), or silent: not heard of for half a minute.\n"
               "\n"
               "Examples:\n"
               "  paceline node list\n"
               "  paceline node list --json | jq -r '.[].name'");
  list->callback([&with, as_json] {
    with.chosen = [&with, as_json] {
      return with_session(with, [as_json](session& on) { return run_list(on, *as_json); });
    };
  });
}

void add_stop(CLI::App& node, program& with) {
  auto* const stop = node.add_subcommand("stop", "Drain a node and end it, as SIGTERM does");
  const auto options = std::make_shared<node_options>();
  stop->add_option("NODE", options->node,
                   "Its name or id; may be left out where only one is running");
  stop->add_option("--timeout", options->timeout, "Wait for the end no longer than this")
      ->capture_default_str()
      ->type_name("DURATION");
  stop->add_flag("--json", options->as_json, "Print JSON");
  stop->footer("Works from any machine that reaches the database. Answers when the node has "
               "drained and given\nup its shards; exit status 1 where it has not by then.\n"
               "\n"
               "Examples:\n"
               "  paceline node stop\n"
               "  paceline node stop mail-2 --timeout 5m");
  stop->callback([&with, options] {
    with.chosen = [&with, options] {
      const auto patience = parse_duration(options->timeout);
      if (!patience)
        return say_wrong_use("--timeout: " + patience.failure().text, "node stop");
      return with_session(
          with, [&options, &patience](session& on) { return run_stop(on, *options, *patience); });
    };
  });
}

} // namespace

void add_node(CLI::App& app, program& with) {
  auto* const node = app.add_subcommand("node", "List nodes, and stop one");
  node->require_subcommand(1);
  node->footer("Examples:\n"
               "  paceline node list\n"
               "  paceline node stop mail-2");
  add_list(*node, with);
  add_stop(*node, with);
}

} // namespace paceline
