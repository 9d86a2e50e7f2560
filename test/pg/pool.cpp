#include "test/pg/database_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr query_text backend{"t_backend", "SELECT pg_backend_pid()"};

class pool_fixture : public database_fixture {
public:
  /// Runs one statement on the pool: the backend's process id, or the error.
  static result<int> ask_backend(database_pool& pool) {
    std::promise<result<int>> answer;
    auto answered = answer.get_future();
    BOOST_REQUIRE(pool.submit([&answer](session* on, const error& why) {
      if (on == nullptr)
        return answer.set_value(why);
      const auto rows = on->run(backend);
      answer.set_value(rows ? result<int>{(*rows)[0][0].as<int>()} : result<int>{rows.failure()});
    }));
    return answered.get();
  }
};

/// Work that holds its thread until it is let go.
class gate_work {
public:
  explicit gate_work(database_pool& pool) {
    std::promise<void> started;
    auto has_started = started.get_future();
    BOOST_REQUIRE(
        pool.submit([let_go = let_go_.get_future().share(), &started](session*, const error&) {
          started.set_value();
          let_go.wait();
        }));
    has_started.wait();
  }
  void let_go() { let_go_.set_value(); }

private:
  std::promise<void> let_go_;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(pools, pool_fixture)

BOOST_AUTO_TEST_CASE(statements_are_counted_by_name) {
  database_pool pool{options(), 2, 10, counts};
  must(ask_backend(pool));
  must(ask_backend(pool));
  BOOST_TEST(counts.total() == 2U);
  BOOST_TEST(counts.snapshot().at("t_backend").statements == 2U);
  BOOST_TEST(counts.snapshot().at("t_backend").time.count() > 0);
}

BOOST_AUTO_TEST_CASE(a_statement_that_fails_is_counted_as_one_and_as_an_error) {
  auto opened = must(single_connection::open(options(), counts));
  BOOST_TEST(!opened.use().run({"t_division", "SELECT 1 / $1::int"}, 0));
  BOOST_TEST(must(opened.use().run({"t_division", "SELECT 1 / $1::int"}, 1)).size() == 1);
  BOOST_TEST(counts.snapshot().at("t_division").statements == 2U);
  BOOST_TEST(counts.snapshot().at("t_division").errors == 1U);
}

BOOST_AUTO_TEST_CASE(one_thread_keeps_one_connection) {
  database_pool pool{options(), 1, 10, counts};
  BOOST_TEST(must(ask_backend(pool)) == must(ask_backend(pool)));
}

BOOST_AUTO_TEST_CASE(a_full_queue_refuses_more_work) {
  database_pool pool{options(), 1, 2, counts};
  gate_work gate{pool};
  int ran = 0;
  const auto count = [&ran](session*, const error&) { ++ran; };
  BOOST_TEST(pool.submit(count));
  BOOST_TEST(pool.submit(count));
  BOOST_TEST(pool.queued() == 2U);
  BOOST_TEST(pool.busy() == 1);
  BOOST_TEST(pool.connections() == 1);
  BOOST_TEST(!pool.submit(count));
  gate.let_go();
  pool.stop();
  BOOST_TEST(ran == 2);
  BOOST_TEST(pool.busy() == 0);
}

BOOST_AUTO_TEST_CASE(stopping_runs_what_was_queued_and_refuses_the_rest) {
  database_pool pool{options(), 1, 10, counts};
  gate_work gate{pool};
  bool had_session = false;
  BOOST_TEST(
      pool.submit([&had_session](session* on, const error&) { had_session = on != nullptr; }));
  gate.let_go();
  pool.stop();
  pool.stop();
  BOOST_TEST(had_session);
  BOOST_TEST(!pool.submit([](session*, const error&) {}));
}

BOOST_AUTO_TEST_CASE(after_its_connection_was_terminated_the_pool_has_a_new_one) {
  database_pool pool{options(), 1, 10, counts};
  const auto old = std::to_string(must(ask_backend(pool)));
  ask("SELECT pg_terminate_backend(" + old + ")");
  wait_until("NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = " + old + ")");
  BOOST_TEST(std::to_string(must(ask_backend(pool))) != old);
}

BOOST_AUTO_TEST_CASE(after_a_restart_of_the_server_the_pool_has_a_new_connection) {
  private_postgres own;
  connection_options to_own;
  to_own.dsn = own.dsn();
  database_pool pool{to_own, 1, 10, counts};
  must(ask_backend(pool));
  own.stop();
  const auto away = ask_backend(pool);
  BOOST_REQUIRE(!away);
  BOOST_TEST((away.failure().kind == error_kind::unavailable));
  own.start();
  const auto deadline = boot_clock::now() + std::chrono::seconds{30};
  while (!ask_backend(pool))
    BOOST_REQUIRE((boot_clock::now() < deadline));
}

BOOST_AUTO_TEST_CASE(where_nobody_listens_work_gets_an_error_at_once) {
  connection_options nowhere;
  nowhere.dsn = "host=127.0.0.1 port=1 dbname=none user=none password=secret-pass";
  database_pool pool{nowhere, 1, 10, counts};
  for (int i = 0; i < 3; ++i) {
    const auto answer = ask_backend(pool);
    BOOST_REQUIRE(!answer);
    BOOST_TEST((answer.failure().kind == error_kind::unavailable));
    BOOST_TEST(answer.failure().is_retryable());
    BOOST_TEST(answer.failure().text.find("secret-pass") == std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
