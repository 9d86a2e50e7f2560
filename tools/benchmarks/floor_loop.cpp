#include "tools/benchmarks/floor_loop.hpp"

#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tools/benchmarks/database.hpp"

namespace paceline::bench {
namespace {

using std::chrono::steady_clock;

/// The first column as an array literal, each value behind a prefix.
std::string array_of(const rows& from, std::string_view prefix) {
  std::string text;
  text.push_back('{');
  for (int i = 0; i < from.count(); ++i) {
    if (i > 0)
      text.push_back(',');
    text.append(prefix).append(from.text(i, 0));
  }
  text.push_back('}');
  return text;
}

/// One connection and its part of the messages.
class drainer {
public:
  drainer(const std::string& dsn, const std::map<std::string, std::string>& queries, int index,
          const floor_settings& settings)
      : on_(dsn), connections_(std::to_string(settings.connections)), index_(std::to_string(index)),
        group_(std::to_string(settings.group)) {
    // As Paceline's own sessions have it; the queries say why.
    on_.run("SET plan_cache_mode = force_generic_plan");
    for (const char* name : {"floor_reserve", "floor_claim", "floor_record"})
      on_.prepare(name, queries.at(name));
  }

  void run() {
    std::string due = "-infinity", last = "0";
    while (true) {
      const auto found =
          on_.run_prepared("floor_reserve", {due.c_str(), last.c_str(), connections_.c_str(),
                                             index_.c_str(), group_.c_str()});
      if (found.count() == 0)
        return;
      due.assign(found.text(found.count() - 1, 2));
      last.assign(found.text(found.count() - 1, 0));
      const auto claimed = on_.run_prepared("floor_claim", {array_of(found, "").c_str()});
      on_.run_prepared("floor_record",
                       {array_of(claimed, "").c_str(), array_of(claimed, "floor-").c_str()});
      done_ += claimed.count();
    }
  }

  std::int64_t done() const { return done_; }

private:
  database on_;
  std::string connections_, index_, group_;
  std::int64_t done_ = 0;
};

std::string replaced(std::string text, const std::string& mark, const std::string& by) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
  return text;
}

/// Lets all go at once and waits for the last; returns seconds.
double race(std::vector<std::unique_ptr<drainer>>& drainers) {
  std::latch ready(static_cast<std::ptrdiff_t>(drainers.size()) + 1);
  std::vector<std::exception_ptr> failures(drainers.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < drainers.size(); ++i)
    threads.emplace_back([&ready, &one = *drainers[i], &failure = failures[i]] {
      ready.arrive_and_wait();
      try {
        one.run();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  ready.arrive_and_wait();
  const auto begin = steady_clock::now();
  for (auto& thread : threads)
    thread.join();
  const std::chrono::duration<double> taken = steady_clock::now() - begin;
  for (const auto& failure : failures)
    if (failure)
      std::rethrow_exception(failure);
  return taken.count();
}

} // namespace

std::map<std::string, std::string> named_blocks(std::string_view text) {
  constexpr std::string_view mark = "-- name: ";
  std::map<std::string, std::string> blocks;
  std::string* current = nullptr;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with(mark)) {
      auto name = std::string{line.substr(mark.size())};
      name.erase(name.find_last_not_of(" \r\n") + 1);
      const auto [place, is_new] = blocks.try_emplace(name);
      if (!is_new)
        throw std::invalid_argument("two blocks are named " + name);
      current = &place->second;
    } else if (current != nullptr) {
      *current += line;
    }
  }
  return blocks;
}

double run_floor(cluster& on, const floor_settings& settings) {
  std::ifstream file(PACELINE_SOURCE_DIR "/tools/benchmarks/floor.sql");
  const auto queries = named_blocks(std::string{std::istreambuf_iterator<char>(file), {}});
  const auto dsn = on.create_database();
  database watcher(dsn);
  watcher.run(queries.at("floor_tables"));
  watcher.run(replaced(queries.at("floor_fill"), "%1", std::to_string(settings.messages)));
  std::vector<std::unique_ptr<drainer>> drainers;
  for (int i = 0; i < settings.connections; ++i)
    drainers.push_back(std::make_unique<drainer>(dsn, queries, i, settings));
  on.settle();
  const auto seconds = race(drainers);
  std::int64_t done = 0;
  for (const auto& one : drainers)
    done += one->done();
  const auto recorded =
      watcher.run("SELECT count(*) FROM message_states WHERE status = 3").integer(0, 0);
  if (done != settings.messages || recorded != settings.messages)
    throw std::runtime_error("the floor recorded " + std::to_string(recorded) + " of "
                             + std::to_string(settings.messages) + " messages");
  return static_cast<double>(settings.messages) / seconds;
}

} // namespace paceline::bench
