#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include "storage/overview.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/interrupt.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/overview_text.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

constexpr std::chrono::seconds redraw_every{1};

struct status_options {
  bool as_json = false, watch = false;
};

std::string status_json(const overview& seen) {
  json_text out;
  overview_json(out, seen);
  return out.line();
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

/// Draws over what is there, so that nothing flickers: each line ends by clearing its rest.
std::string as_screen(const std::string& text) {
  std::string out = "\x1b[H";
  for (const char c : text) {
    if (c == '\n')
      out += "\x1b[K";
    out += c;
  }
  return out + "\x1b[J";
}

/// Shows the state again and again until a signal comes. A connection that broke is opened anew.
class status_watch {
public:
  status_watch(program& with, const settings& values, bool as_json)
      : with_(with), values_(values), as_json_(as_json), on_(describe_terminal(1)) {}

  int run() {
    interrupt_watch interrupts;
    if (draws_over())
      print("\x1b[2J");
    do {
      const auto shown = show();
      if (!shown && !shown.failure().is_retryable())
        return say_error(shown.failure());
      if (!shown && !std::exchange(is_away_, true))
        say(shown.failure().text + " Trying again.");
      is_away_ = !shown;
      if (std::fflush(stdout) != 0)
        return exit_failed;
    } while (!interrupts.sleep(redraw_every));
    return exit_fine;
  }

private:
  bool draws_over() const { return on_.is_terminal && !as_json_; }

  result<done> show() {
    if (!connection_) {
      auto opened = with_.connect(values_);
      if (!opened)
        return opened.failure();
      connection_ = *opened;
    }
    const auto seen = read_overview(*connection_);
    if (!seen) {
      connection_ = nullptr; // never repaired
      return seen.failure();
    }
    if (as_json_)
      print(status_json(*seen));
    else if (draws_over())
      print(as_screen(clock_text() + "\n\n" + overview_text(*seen, on_)));
    else
      print(clock_text() + "\n\n" + overview_text(*seen, on_) + "\n");
    return done{};
  }

  program& with_;
  const settings& values_;
  bool as_json_;
  terminal on_;
  session* connection_ = nullptr;
  bool is_away_ = false;
};

int show_once(session& on, bool as_json) {
  const auto seen = read_overview(on);
  if (!seen)
    return say_error(seen.failure());
  print(as_json ? status_json(*seen) : overview_text(*seen, describe_terminal(1)));
  return exit_fine;
}

int run_status(program& with, const status_options& options) {
  if (!options.watch)
    return with_session(with, [&options](session& on) { return show_once(on, options.as_json); });
  const auto values = with.configured();
  if (!values)
    return exit_wrong_use;
  return status_watch{with, *values, options.as_json}.run();
}

} // namespace

void add_status(CLI::App& app, program& with) {
  auto* const status =
      app.add_subcommand("status", "Show routes, shards, what waits, what is unknown, and nodes");
  const auto options = std::make_shared<status_options>();
  status->add_flag("--json", options->as_json, "Print JSON; with --watch one object a line");
  status->add_flag("--watch", options->watch, "Show it every second, until Ctrl-C");
  status->footer(
      "RATE NOW is the mean of two whole seconds, of what is recorded. BACKLOG counts what "
      "is queued,\nattempting or not yet expanded. SET BY OPERATOR is a rate of `routes "
      "set-rate`.\n"
      "\n"
      "Examples:\n"
      "  paceline status\n"
      "  paceline status --watch\n"
      "  paceline status --json | jq '.routes[].rate_now_per_second'");
  status->callback(
      [&with, options] { with.chosen = [&with, options] { return run_status(with, *options); }; });
}

} // namespace paceline
