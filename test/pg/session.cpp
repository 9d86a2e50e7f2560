/// What an error leaves behind, and how values travel.
#include "test/pg/database_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr query_text sleep_long{"t_sleep_long", "SELECT pg_sleep(60)"};
constexpr query_text divide{"t_divide", "SELECT 1 / $1::int"};
constexpr query_text echo{"t_echo", "SELECT $1::text"};
constexpr query_text echo_array{"t_echo_array", "SELECT $1::text[], cardinality($1::text[])"};
constexpr query_text insert_one{"t_insert_one", "INSERT INTO kept (id) VALUES ($1::int)"};
constexpr query_text lock_one{"t_lock_one", "SELECT id FROM kept WHERE id = $1::int FOR UPDATE"};
constexpr query_text warn{"t_warn", "SELECT warn_of_standby()"};

class session_fixture : public database_fixture {
public:
  session_fixture() : db(connect()) {
    ask("CREATE TABLE kept (id int PRIMARY KEY, text text, more text)");
  }

  /// Runs `work` on another thread and returns once `of` executes a statement.
  template <class F>
  auto start_active(session& of, F work) {
    auto running = std::async(std::launch::async, std::move(work));
    wait_until("EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid = "
               + std::to_string(of.raw().backendpid()) + ")");
    return running;
  }

  result<done> insert_in_transaction(session& on, int id) {
    return on.in_transaction([id](session& inside) -> result<done> {
      if (const auto inserted = inside.run(insert_one, id); !inserted)
        return inserted.failure();
      return done{};
    });
  }

  std::unique_ptr<session> db;
};

const std::vector<std::string> hostile{"",
                                       "NULL",
                                       "a\"b",
                                       "back\\slash",
                                       "{br,ace}",
                                       " blank ",
                                       "\ttab\nline",
                                       "\\N",
                                       "\\.",
                                       "o'k",
                                       "J\xc3\xbcrgen \xf0\x9f\x93\xa8",
                                       "$1",
                                       "\x01",
                                       "a,b,c",
                                       "\\\"both"};

bool is_kind(const error& failure, error_kind kind) {
  BOOST_TEST_MESSAGE(failure.text);
  return failure.kind == kind;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(sessions, session_fixture)

BOOST_AUTO_TEST_CASE(hostile_text_comes_back_from_an_array_as_it_went) {
  const auto rows = must(db->run(echo_array, text_array_literal(hostile)));
  BOOST_TEST(rows[0][1].as<std::size_t>() == hostile.size());
  BOOST_TEST(parse_text_array(rows[0][0].as<std::string>()) == hostile,
             boost::test_tools::per_element());
  const std::vector<std::optional<std::string>> gaps{"NULL", std::nullopt, ""};
  const auto with_gaps = must(db->run(echo_array, text_array_literal(gaps)));
  BOOST_TEST((parse_array(with_gaps[0][0].as<std::string>()) == gaps));
  BOOST_TEST(parse_array("{}").empty());
}

BOOST_AUTO_TEST_CASE(numbers_with_gaps_make_a_literal) {
  BOOST_TEST(array_literal(std::vector<std::optional<int>>{1, std::nullopt, -3}) == "{1,NULL,-3}");
  BOOST_TEST(array_literal(std::vector<message_id>{message_id{7}}) == "{7}");
  BOOST_TEST(array_literal(std::vector<int>{}) == "{}");
}

BOOST_AUTO_TEST_CASE(copied_text_comes_back_as_it_went) {
  must(db->in_transaction([](session& inside) -> result<done> {
    auto writer = must(inside.copy_in("kept", {"id", "text", "more"}));
    for (std::size_t i = 0; i < hostile.size(); ++i)
      must(writer.write(i, hostile[i], std::monostate{}));
    return writer.complete();
  }));
  const auto rows = must(run(*db, "SELECT text, more IS NULL FROM kept ORDER BY id"));
  BOOST_REQUIRE(rows.size() == hostile.size());
  for (std::size_t i = 0; i < hostile.size(); ++i) {
    BOOST_TEST(rows[static_cast<int>(i)][0].as<std::string>() == hostile[i]);
    BOOST_TEST(rows[static_cast<int>(i)][1].as<bool>());
  }
}

BOOST_AUTO_TEST_CASE(a_copy_that_was_left_in_its_middle_stores_nothing) {
  const auto stored = db->in_transaction([](session& inside) -> result<done> {
    auto writer = must(inside.copy_in("kept", {"id"}));
    return writer.write(1);
  });
  BOOST_TEST(!stored);
  BOOST_TEST(ask("SELECT count(*) FROM kept") == "0");
}

BOOST_AUTO_TEST_CASE(a_copied_row_that_breaks_a_rule_is_a_data_error) {
  const auto stored = db->in_transaction([](session& inside) -> result<done> {
    auto writer = must(inside.copy_in("kept", {"id"}));
    must(writer.write(1));
    must(writer.write(1));
    return writer.complete();
  });
  BOOST_TEST(is_kind(stored.failure(), error_kind::data));
  must(db->run(echo, "still good"));
}

BOOST_AUTO_TEST_CASE(bad_values_are_data_errors_and_leave_the_session_good) {
  BOOST_TEST(is_kind(db->run(divide, 0).failure(), error_kind::data));
  BOOST_TEST(db->last_sqlstate() == "22012");
  BOOST_TEST(is_kind(db->run(echo, std::string("a\0b", 3)).failure(), error_kind::data));
  BOOST_TEST(is_kind(db->run(echo, "\xff").failure(), error_kind::data));
  must(db->run(insert_one, 1));
  BOOST_TEST(is_kind(db->run(insert_one, 1).failure(), error_kind::data));
  BOOST_TEST(!db->is_broken());
  BOOST_TEST(must(db->run(echo, std::nullopt))[0][0].is_null());
}

BOOST_AUTO_TEST_CASE(an_error_text_does_not_repeat_the_row) {
  must(db->run(insert_one, 4711));
  BOOST_TEST(db->run(insert_one, 4711).failure().text.find("4711") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_prepared_statements_the_server_keeps_none) {
  auto unprepared = options();
  unprepared.prepared_statements = false;
  const auto other = must(session::open(unprepared, counts));
  must(other->run(echo, "x"));
  must(db->run(echo, "x"));
  const std::string count = "SELECT count(*) FROM pg_prepared_statements";
  BOOST_TEST(must(run(*other, count))[0][0].as<int>() == 0);
  BOOST_TEST(must(run(*db, count))[0][0].as<int>() == 1);
}

BOOST_AUTO_TEST_CASE(a_statement_cut_in_its_middle_is_in_doubt_and_breaks_the_session) {
  auto running = start_active(*db, [this] { return db->run(sleep_long); });
  terminate(*db);
  BOOST_TEST(is_kind(running.get().failure(), error_kind::in_doubt));
  BOOST_TEST(db->is_broken());
  BOOST_TEST(is_kind(db->run(echo, "x").failure(), error_kind::unavailable));
}

BOOST_AUTO_TEST_CASE(a_session_ended_while_idle_leaves_no_doubt) {
  must(db->run(echo, "x"));
  terminate(*db);
  BOOST_TEST(is_kind(db->run(echo, "x").failure(), error_kind::unavailable));
  BOOST_TEST(db->is_broken());
}

BOOST_AUTO_TEST_CASE(a_transaction_cut_before_its_commit_is_not_done) {
  auto running = start_active(*db, [this] {
    return db->in_transaction([](session& inside) { return inside.run(sleep_long); });
  });
  terminate(*db);
  BOOST_TEST(is_kind(running.get().failure(), error_kind::unavailable));
}

BOOST_AUTO_TEST_CASE(a_transaction_cut_in_its_commit_is_in_doubt) {
  ask("CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS "
      "'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'");
  ask("CREATE CONSTRAINT TRIGGER nap AFTER INSERT ON kept DEFERRABLE INITIALLY DEFERRED "
      "FOR EACH ROW EXECUTE FUNCTION nap()");
  auto running = start_active(*db, [this] { return insert_in_transaction(*db, 1); });
  terminate(*db);
  BOOST_TEST(is_kind(running.get().failure(), error_kind::in_doubt));
}

BOOST_AUTO_TEST_CASE(an_error_that_was_overlooked_inside_a_transaction_fails_it) {
  const auto stored = db->in_transaction([](session& inside) -> result<done> {
    must(inside.run(insert_one, 1));
    (void)inside.run(divide, 0);
    return done{};
  });
  BOOST_TEST(is_kind(stored.failure(), error_kind::data));
  BOOST_TEST(ask("SELECT count(*) FROM kept") == "0");
}

BOOST_AUTO_TEST_CASE(a_deadlock_is_a_conflict_and_one_of_two_goes_on) {
  must(db->run(insert_one, 1));
  must(db->run(insert_one, 2));
  const auto other = connect();
  std::promise<void> holds_two;
  auto second = std::async(std::launch::async, [&other, &holds_two] {
    return other->in_transaction([&holds_two](session& inside) -> result<done> {
      must(inside.run(lock_one, 2));
      holds_two.set_value();
      if (const auto locked = inside.run(lock_one, 1); !locked)
        return locked.failure();
      return done{};
    });
  });
  const auto first = db->in_transaction([&holds_two](session& inside) -> result<done> {
    must(inside.run(lock_one, 1));
    holds_two.get_future().wait();
    if (const auto locked = inside.run(lock_one, 2); !locked)
      return locked.failure();
    return done{};
  });
  const auto last = second.get();
  BOOST_TEST((bool(first) != bool(last)));
  BOOST_TEST(is_kind(first ? last.failure() : first.failure(), error_kind::conflict));
}

BOOST_AUTO_TEST_CASE(a_statement_that_takes_too_long_is_a_timeout) {
  must(run(*db, "SET statement_timeout = 20"));
  BOOST_TEST(is_kind(db->run(sleep_long).failure(), error_kind::timeout));
}

BOOST_AUTO_TEST_CASE(the_warning_of_a_commit_that_no_standby_has_means_in_doubt) {
  ask("CREATE FUNCTION warn_of_standby() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE WARNING "
      "'canceling wait for synchronous replication due to user request'; RETURN 1; END$$");
  BOOST_TEST(is_kind(db->run(warn).failure(), error_kind::in_doubt));
  must(db->run(echo, "the next one is sure again"));
}

BOOST_AUTO_TEST_CASE(a_commit_whose_wait_for_its_standby_was_canceled_is_in_doubt) {
  const auto set_standby = [this](const std::string& change) {
    ask("ALTER SYSTEM " + change);
    ask("SELECT pg_reload_conf()");
  };
  struct resetting {
    std::function<void()> reset;
    ~resetting() { reset(); }
  };
  const resetting at_the_end{[set_standby] { set_standby("RESET synchronous_standby_names"); }};
  set_standby("SET synchronous_standby_names = 'ghost'");
  const auto waits =
      "EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid = "
      + std::to_string(db->raw().backendpid()) + ")";
  // Commits begin to wait only when the checkpointer has read the setting, which nobody can see.
  int value = 0;
  std::future<result<done>> running;
  do {
    ++value;
    running =
        std::async(std::launch::async, [this, value] { return insert_in_transaction(*db, value); });
    wait_until(waits + " OR (SELECT count(*) FROM kept) = " + std::to_string(value));
  } while (ask("SELECT " + waits) != "t");
  const auto pid = std::to_string(db->raw().backendpid());
  ask("SELECT pg_cancel_backend(" + pid + ")");
  BOOST_TEST(is_kind(running.get().failure(), error_kind::in_doubt));
  BOOST_TEST(ask("SELECT count(*) FROM kept") == std::to_string(value));
}

BOOST_AUTO_TEST_CASE(a_dsn_that_cant_be_parsed_is_invalid_and_not_repeated) {
  connection_options bad;
  bad.dsn = "host=localhost secret-pass";
  const auto failure = session::open(bad, counts).failure();
  BOOST_TEST(is_kind(failure, error_kind::invalid));
  BOOST_TEST(failure.text.find("secret-pass") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_dsn_in_uri_form_connects_and_keeps_what_it_says) {
  auto uri = options();
  pqxx::connection known{dsn};
  uri.dsn = "postgresql://" + std::string{known.username()}
            + "@127.0.0.1:" + std::string{known.port()} + "/" + std::string{known.dbname()}
            + "?application_name=mine";
  const auto on = must(session::open(uri, counts));
  BOOST_TEST(must(run(*on, "SHOW application_name"))[0][0].as<std::string>() == "mine");
}

BOOST_AUTO_TEST_SUITE_END()
