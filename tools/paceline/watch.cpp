#include "tools/paceline/watch.hpp"

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "storage/overview.hpp"
#include "tools/paceline/interrupt.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/progress.hpp"
#include "tools/paceline/report.hpp"

namespace paceline {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds poll{250};
constexpr std::chrono::seconds plain_line_every{5};
/// How long nothing may start before we look whether anybody is there.
constexpr std::chrono::seconds patience{5};
constexpr std::chrono::seconds give_up_after{60};

double seconds_of(steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

/// The line that is being rewritten on a terminal, or whole lines elsewhere.
class progress_display {
public:
  explicit progress_display(terminal on) : on_(on) {}
  ~progress_display() { leave_line(); }
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  /// `is_last`: shown in any case.
  void show(const campaign_view& campaign, bool is_last) {
    const auto now = steady_clock::now();
    meter_.read(seconds_of(now - begin_), campaign);
    if (on_.is_terminal) {
      // The last column stays free: some terminals wrap as soon as it is written.
      std::fprintf(stderr, "\r%s\x1b[K", progress_line(campaign, meter_, on_.width - 1).c_str());
      std::fflush(stderr);
      is_open_ = true;
    } else if (is_last || now >= next_plain_) {
      std::fprintf(stderr, "%s\n", progress_line(campaign, meter_, 0).c_str());
      next_plain_ = now + plain_line_every;
    }
  }

  void note(std::string_view text) {
    leave_line();
    say(text);
  }

private:
  void leave_line() {
    if (std::exchange(is_open_, false))
      std::fputs("\n", stderr);
  }

  terminal on_;
  progress_meter meter_;
  steady_clock::time_point begin_ = steady_clock::now();
  steady_clock::time_point next_plain_ = begin_;
  bool is_open_ = false;
};

/// Whether some node owns a shard of the route; true where it can't be told.
bool is_served(session& on, const std::string& route) {
  const auto seen = read_overview(on);
  if (!seen)
    return true;
  for (const auto& shard : seen->shards)
    if (shard.route.text() == route && shard.owner_id.value() != 0)
      return true;
  return false;
}

/// What a view tells the watch.
template <class View>
struct watch_rules {
  std::function<result<View>(session&)> read;
  std::function<bool(const View&)> is_over;
  std::function<bool(const View&)> has_started;
};

template <class View>
class watch {
public:
  watch(program& with, const settings& configured, watch_rules<View> rules)
      : with_(with), configured_(configured), rules_(std::move(rules)),
        display_(describe_terminal(2)) {}

  watched<View> run() {
    interrupt_watch interrupts;
    while (true) {
      if (auto ended = look())
        return std::move(*ended);
      if (interrupts.sleep(poll))
        return {watch_end::interrupted, std::move(last_), {}};
    }
  }

private:
  std::optional<watched<View>> look() {
    auto view = read();
    if (!view)
      return fail(view.failure());
    if (std::exchange(is_away_, false))
      display_.note("The database is back.");
    last_ = *view;
    if constexpr (std::is_same_v<View, campaign_view>)
      display_.show(*view, rules_.is_over(*view));
    if (rules_.is_over(*view))
      return watched<View>{watch_end::over, std::move(last_), {}};
    look_for_nodes(*view);
    return std::nullopt;
  }

  result<View> read() {
    if (!connection_) {
      auto opened = with_.connect(configured_);
      if (!opened)
        return opened.failure();
      connection_ = *opened;
    }
    auto view = rules_.read(*connection_);
    if (!view)
      connection_ = nullptr; // never repaired: the next look opens another
    return view;
  }

  std::optional<watched<View>> fail(const error& why) {
    const auto now = steady_clock::now();
    if (!std::exchange(is_away_, true)) {
      away_since_ = now;
      if (why.is_retryable())
        display_.note(why.text + " Sending doesn't depend on this command; trying again.");
    }
    if (why.is_retryable() && now - away_since_ < give_up_after)
      return std::nullopt;
    return watched<View>{watch_end::failed, std::move(last_), why};
  }

  void look_for_nodes(const View& view) {
    if (has_looked_ || rules_.has_started(view) || steady_clock::now() - begin_ < patience)
      return;
    has_looked_ = true;
    if (!is_served(*connection_, view.route))
      display_.note("No node serves " + view.route
                    + ": start `paceline serve`, and sending begins.");
  }

  program& with_;
  const settings& configured_;
  watch_rules<View> rules_;
  progress_display display_;
  session* connection_ = nullptr;
  std::optional<View> last_;
  steady_clock::time_point begin_ = steady_clock::now(), away_since_{};
  bool is_away_ = false, has_looked_ = false;
};

} // namespace

watched<campaign_view> watch_campaign(program& with, const settings& configured, stream_id which) {
  watch<campaign_view> watching{with,
                                configured,
                                {.read = [which](session& on) { return show_campaign(on, which); },
                                 .is_over = is_over,
                                 .has_started =
                                     [](const campaign_view& view) {
                                       return view.first_start_s.has_value()
                                              || view.state != "sending";
                                     }}};
  return watching.run();
}

watched<message_view> watch_message(program& with, const settings& configured, message_id which) {
  watch<message_view> watching{
      with,
      configured,
      {.read = [which](session& on) { return show_message(on, which); },
       .is_over = [](const message_view& view) { return !is_open(view.status); },
       .has_started =
           [](const message_view& view) { return view.status != message_status::queued; }}};
  return watching.run();
}

} // namespace paceline
