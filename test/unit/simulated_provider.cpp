#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "test/unit/courier_support.hpp"
#include "transport/providers/ledger.hpp"
#include "transport/providers/simulated.hpp"
#include "transport/providers/token_bucket.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

class granted_call final : public call {
public:
  granted_call(std::int64_t id, const std::string& recipient)
      : message_(message_to(id, recipient)) {}
  const outgoing_message& message() const override { return *message_; }
  bool may_write() override {
    ++asked;
    return is_granted;
  }
  bool is_refused() const override { return !is_granted; }
  database_instant slot() const override { return database_instant{seconds{7}}; }
  database_instant started_at() const override { return database_instant{seconds{7}}; }
  outgoing_message& changeable() { return *message_; }

  bool is_granted = true;
  int asked = 0;

private:
  std::shared_ptr<outgoing_message> message_;
};

class temporary_path {
public:
  temporary_path() {
    auto name = (std::filesystem::temp_directory_path() / "paceline-ledger-XXXXXX").string();
    auto file = ::mkstemp(name.data());
    BOOST_REQUIRE(file >= 0);
    ::close(file);
    name_ = name;
  }
  ~temporary_path() { std::filesystem::remove(name_); }
  const std::string& name() const { return name_; }

  std::vector<std::string> lines() const {
    std::ifstream file{name_};
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);)
      all.push_back(line);
    return all;
  }

private:
  std::string name_;
};

struct simulation {
  virtual_reactor loop;
  simulated_options options;
  std::unique_ptr<provider> simulated;

  explicit simulation(simulated_options wanted = {}) : options(std::move(wanted)) {
    options.jitter = 0;
    simulated = make_simulated_provider(loop, options);
  }

  /// The answer within `patience`, or nothing.
  std::optional<provider_answer> send(granted_call& what, nanoseconds patience = seconds{2}) {
    auto answer = std::make_shared<std::optional<provider_answer>>();
    simulated->start(what, [answer](provider_answer given) {
      BOOST_TEST(!answer->has_value());
      *answer = std::move(given);
    });
    loop.pass_to(loop.now() + patience);
    return *answer;
  }

  std::optional<provider_answer> send(const std::string& local_part, std::int64_t id = 1) {
    granted_call what{id, local_part + "@simulator.paceline.test"};
    return send(what);
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(simulated_provider)

BOOST_AUTO_TEST_CASE(the_local_part_chooses_the_outcome) {
  struct expectation {
    std::string local_part;
    outcome_kind kind;
    refusal refused;
    reason_code reason;
  };
  using k = outcome_kind;
  using r = reason_code;
  const std::array expected{
      expectation{"success", k::accepted, refusal::none, r::none},
      expectation{"success+a+b", k::accepted, refusal::none, r::none},
      expectation{"anybody", k::accepted, refusal::none, r::none},
      expectation{"throttle", k::throttled, refusal::rate, r::provider_throttled},
      expectation{"throttle+7", k::throttled, refusal::rate, r::provider_throttled},
      expectation{"daily-quota", k::throttled, refusal::daily_quota, r::provider_daily_quota},
      expectation{"paused", k::throttled, refusal::sending_paused, r::provider_sending_paused},
      expectation{"reject", k::rejected, refusal::this_message, r::provider_rejected},
      expectation{"error", k::unknown, refusal::none, r::provider_server_error},
      expectation{"disconnect", k::unknown, refusal::none, r::provider_connection_lost},
      expectation{"malformed", k::unknown, refusal::none, r::provider_server_error},
      expectation{"unreachable", k::not_started, refusal::none, r::provider_unreachable},
      expectation{"slow", k::accepted, refusal::none, r::none},
  };
  for (const auto& one : expected) {
    BOOST_TEST_CONTEXT(one.local_part) {
      simulation world;
      auto answer = world.send(one.local_part);
      BOOST_REQUIRE(answer.has_value());
      BOOST_TEST((answer->kind == one.kind));
      BOOST_TEST((answer->refused == one.refused));
      BOOST_TEST((answer->reason == one.reason));
      BOOST_TEST(answer->provider_id.empty() == (one.kind != k::accepted));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_answer_takes_the_latency_and_a_slow_one_ten_times_as_long) {
  simulation world;
  granted_call quick{1, "anna@example.com"}, slow{2, "slow@simulator.paceline.test"};
  BOOST_TEST(!world.send(quick, milliseconds{169}).has_value());
  BOOST_TEST(world.send(quick, milliseconds{170}).has_value());
  BOOST_TEST(!world.send(slow, milliseconds{1699}).has_value());
  BOOST_TEST(world.send(slow, milliseconds{1700}).has_value());
}

BOOST_AUTO_TEST_CASE(without_latency_the_answer_comes_at_once) {
  simulated_options options;
  options.latency = nanoseconds{0};
  simulation world{options};
  granted_call what{1, "anna@example.com"};
  BOOST_TEST(world.send(what, nanoseconds{0}).has_value());
}

BOOST_AUTO_TEST_CASE(a_hanging_call_answers_after_a_minute_and_a_silent_one_never) {
  simulation world;
  granted_call hanging{1, "hang@simulator.paceline.test"};
  granted_call silent{2, "timeout@simulator.paceline.test"};
  BOOST_TEST(!world.send(hanging, seconds{59}).has_value());
  BOOST_TEST(world.send(hanging, seconds{60}).has_value());
  BOOST_TEST(!world.send(silent, std::chrono::hours{24}).has_value());
}

BOOST_AUTO_TEST_CASE(once_throttle_throttles_each_message_once) {
  simulation world;
  BOOST_TEST((world.send("once-throttle", 1)->kind == outcome_kind::throttled));
  BOOST_TEST((world.send("once-throttle", 2)->kind == outcome_kind::throttled));
  BOOST_TEST((world.send("once-throttle", 1)->kind == outcome_kind::accepted));
}

BOOST_AUTO_TEST_CASE(without_permission_nothing_is_written) {
  temporary_path path;
  simulated_options options;
  options.ledger = path.name();
  simulation world{options};
  granted_call what{1, "anna@example.com"};
  what.is_granted = false;
  BOOST_TEST((world.send(what)->kind == outcome_kind::not_started));
  BOOST_TEST(path.lines().empty());
}

BOOST_AUTO_TEST_CASE(an_unreachable_provider_does_not_ask_for_permission) {
  simulation world;
  granted_call what{1, "unreachable@simulator.paceline.test"};
  world.send(what);
  BOOST_TEST(what.asked == 0);
}

BOOST_AUTO_TEST_CASE(a_bucket_gives_its_capacity_and_then_what_refills) {
  boot_instant now{seconds{1}};
  token_bucket bucket{10, 3.5, now};
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(bucket.take(1, now));
  BOOST_TEST(!bucket.take(1, now)); // half a token is left
  BOOST_TEST(!bucket.take(1, now + milliseconds{49}));
  BOOST_TEST(bucket.take(1, now + milliseconds{50}));
  BOOST_TEST(!bucket.take(1, now + milliseconds{149}));
  BOOST_TEST(bucket.take(1, now + milliseconds{150}));
}

BOOST_AUTO_TEST_CASE(an_idle_bucket_holds_no_more_than_its_capacity) {
  boot_instant now{seconds{1}};
  token_bucket bucket{10, 2, now};
  now += seconds{1000};
  BOOST_TEST(bucket.take(2, now));
  BOOST_TEST(!bucket.take(1, now));
}

BOOST_AUTO_TEST_CASE(a_message_larger_than_the_bucket_passes_a_full_one_and_leaves_a_debt) {
  boot_instant now{seconds{1}};
  token_bucket bucket{10, 3, now};
  BOOST_TEST(bucket.take(50, now));
  BOOST_TEST(!bucket.take(1, now + milliseconds{4799}));
  BOOST_TEST(bucket.take(1, now + milliseconds{4800})); // 47 owed and one wanted at 10/s
}

BOOST_AUTO_TEST_CASE(a_sender_at_the_tolerated_rate_is_never_throttled_and_a_faster_one_is) {
  for (double factor : {1.0, 1.2}) {
    simulated_options options;
    options.latency = nanoseconds{0};
    options.quota = rate::per_second(20);
    options.tolerance = 1.0;
    simulation world{options};
    int throttled = 0;
    for (int i = 0; i < 400; ++i) {
      granted_call what{i, "anna@example.com"};
      auto distance = nanoseconds{static_cast<std::int64_t>(50e6 / factor)};
      throttled += world.send(what, distance)->kind == outcome_kind::throttled ? 1 : 0;
    }
    BOOST_TEST((throttled == 0) == (factor == 1.0));
  }
}

BOOST_AUTO_TEST_CASE(the_daily_quota_refuses_beyond_it_and_frees_after_a_day) {
  simulated_options options;
  options.daily_quota = 3;
  simulation world{options};
  granted_call two{1, "anna@example.com"};
  two.changeable().recipients.push_back("bea@example.com");
  BOOST_TEST((world.send(two)->kind == outcome_kind::accepted));
  BOOST_TEST((world.send(two)->refused == refusal::daily_quota));
  BOOST_TEST((world.send("success", 2)->kind == outcome_kind::accepted));
  BOOST_TEST((world.send("success", 3)->refused == refusal::daily_quota));
  world.loop.pass_to(world.loop.now() + std::chrono::hours{24});
  BOOST_TEST((world.send("success", 3)->kind == outcome_kind::accepted));
}

BOOST_AUTO_TEST_CASE(the_quota_tells_rate_limit_and_what_was_sent) {
  simulated_options options;
  options.quota = rate::per_second(14);
  options.daily_quota = 200;
  options.latency = nanoseconds{0};
  simulation world{options};
  world.send("success");
  std::optional<quota_reading> reading;
  world.simulated->ask_quota([&reading](const result<quota_reading>& got) { reading = *got; });
  BOOST_REQUIRE(reading.has_value());
  BOOST_TEST((reading->max_send_rate == rate::per_second(14)));
  BOOST_TEST(reading->max_24h == 200);
  BOOST_TEST(reading->sent_24h == 1);
}

BOOST_AUTO_TEST_CASE(the_ledger_holds_what_a_provider_would_have_taken) {
  temporary_path path;
  simulated_options options;
  options.ledger = path.name();
  options.node = "node \"1\"";
  options.route = "test:here";
  simulation world{options};
  for (const char* refused : {"throttle", "reject", "paused", "daily-quota", "unreachable"})
    world.send(refused);
  BOOST_TEST(path.lines().empty());
  world.send("success", 41);
  world.send("error", 42);
  auto lines = path.lines();
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(lines[0]
             == R"({"message":41,"version":0,"started_ns":7000000000,"recipients":1,)"
                R"("node":"node \"1\"","route":"test:here"})");
  BOOST_TEST(lines[1].ends_with(R"(,"unanswered":true})"));
}

BOOST_AUTO_TEST_CASE(the_ledger_is_written_before_the_answer) {
  temporary_path path;
  simulated_options options;
  options.ledger = path.name();
  simulation world{options};
  granted_call what{1, "anna@example.com"};
  BOOST_TEST(!world.send(what, nanoseconds{0}).has_value());
  BOOST_TEST(path.lines().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_line_cut_by_a_full_disk_does_not_spoil_the_next_one) {
  temporary_path path;
  const pid_t writer = ::fork(); // the limit on the size of files is for this process alone
  BOOST_REQUIRE(writer >= 0);
  if (writer == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    ledger book{path.name(), "alice", "test:here"};
    const attempt of{message_id{7}, 1};
    bool fine = book.append(of, database_instant{seconds{1}}, 1, false);
    const rlimit full{std::filesystem::file_size(path.name()) + 9, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
    fine = !book.append(of, database_instant{seconds{2}}, 1, false) && fine;
    fine = !book.append(of, database_instant{seconds{3}}, 1, false) && fine;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    fine = book.append(of, database_instant{seconds{4}}, 1, false) && fine;
    ::_exit(fine ? 0 : 1);
  }
  int status = -1;
  ::waitpid(writer, &status, 0);
  BOOST_TEST(status == 0);
  const auto lines = path.lines();
  BOOST_REQUIRE(lines.size() == 3u);
  BOOST_TEST(lines[1] == "{\"message");
  BOOST_TEST(lines[2].starts_with("{\"message\":7,\"version\":1,\"started_ns\":4000000000,"));
}

BOOST_AUTO_TEST_CASE(a_killed_process_leaves_only_whole_ledger_lines) {
  temporary_path path;
  std::array<pid_t, 2> writers{};
  for (auto& writer : writers) {
    writer = ::fork();
    BOOST_REQUIRE(writer >= 0);
    if (writer == 0) {
      ledger book{path.name(), std::string(300, 'n'), "test:here"};
      for (std::int64_t id = 1;; ++id)
        book.append(attempt{message_id{id}, 1}, database_instant{seconds{1}}, 1, false);
    }
  }
  while (std::filesystem::file_size(path.name()) < 500'000) {
  }
  for (auto writer : writers) {
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
  }
  auto lines = path.lines();
  BOOST_TEST(lines.size() > 1000u);
  std::size_t whole = 0;
  for (const auto& line : lines)
    whole +=
        line.starts_with("{\"message\":") && line.ends_with("\"route\":\"test:here\"}") ? 1 : 0;
  BOOST_TEST(whole == lines.size());
}

BOOST_AUTO_TEST_SUITE_END()
