/// Taking messages in: whole calls or nothing, each once per idempotency key.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/intake.hpp"
#include "storage/keys.hpp"
#include "storage/streams.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

struct intake_fixture : dispatch_fixture {
  intake_fixture() : direct(must(direct_stream(*db, route, project_id{1}))) {}

  std::int64_t fresh() { return ids.next(++clock_); }
  idempotency once(const std::string& key, std::uint8_t body = 1) {
    idempotency made;
    made.key = key;
    made.body_hash.fill(body);
    made.response = "{\"id\": \"ü\\u0001\"}\n";
    return made;
  }
  intake_call call(int messages = 1, std::optional<idempotency> guard = {}) {
    intake_call made;
    made.environment = "test";
    made.route = route;
    made.stream = direct;
    made.once = std::move(guard);
    content what;
    what.id = content_id{fresh()};
    what.sender = "a@example.org";
    what.subject = "Hello";
    made.contents.push_back(what);
    for (int i = 0; i < messages; ++i) {
      auto& message = made.messages.emplace_back();
      message.id = message_id{fresh()};
      message.recipients = {std::string{"r"}.append(std::to_string(i)).append("@example.org")};
    }
    return made;
  }
  std::vector<intake_reply> take(std::initializer_list<const intake_call*> calls,
                                 bool again = false) {
    return must(take_in(*db, std::vector<const intake_call*>(calls), again));
  }
  intake_verdict verdict_of(const intake_call& one, bool again = false) {
    return take({&one}, again).at(0).verdict;
  }
  error_kind failure_of(const intake_call& one, bool again = false) {
    const intake_call* const only[] = {&one};
    const auto stored = take_in(*db, only, again);
    return stored ? throw std::runtime_error("it was stored") : stored.failure().kind;
  }
  std::string count(const std::string& table) { return ask("SELECT count(*) FROM " + table); }

  stream_id direct;

private:
  std::int64_t clock_ = 1'800'000'000'000;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(intake, intake_fixture)

BOOST_AUTO_TEST_CASE(a_call_is_stored_with_all_that_was_given) {
  auto one = call(2);
  one.messages[0].fields = R"({"a":  1})";
  one.messages[0].tags = R"({"kind": "order"})";
  one.messages[0].addresses = R"({"to": ["R0@example.org"]})";
  one.messages[0].recipients = {"r0@example.org", R"(we"ird\,{}@example.org)"};
  const auto now = must(database_time(*db));
  one.messages[1].send_at = now + 3'600'000'000;
  one.messages[1].expires_at = now + 7'200'000'000;
  BOOST_TEST((verdict_of(one) == intake_verdict::stored));
  const auto rows = due(direct);
  BOOST_REQUIRE(rows.size() == 1U);
  BOOST_TEST(rows[0].recipients == one.messages[0].recipients, boost::test_tools::per_element());
  BOOST_TEST(rows[0].fields == R"({"a":  1})");
  BOOST_TEST(rows[0].cost == 2);
  BOOST_TEST(
      ask("SELECT tags->>'kind' || (addresses->'to'->>0) FROM messages WHERE tags IS NOT NULL")
      == "orderR0@example.org");
  BOOST_TEST(ask("SELECT expires_at - due_at FROM message_states WHERE expires_at IS NOT NULL")
             == "01:00:00");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_repeated_request_gets_the_first_answer_byte_for_byte) {
  auto first = call(1, once("k"));
  first.once->status = 207;
  take({&first});
  auto again = call(1, once("k"));
  again.once->response = "another";
  const auto reply = take({&again}).at(0);
  BOOST_TEST((reply.verdict == intake_verdict::replayed));
  BOOST_TEST(reply.status == 207);
  BOOST_TEST(reply.response == first.once->response);
  BOOST_TEST(count("messages") == "1");
  BOOST_TEST(count("contents") == "1");
}

BOOST_AUTO_TEST_CASE(another_body_under_a_known_key_is_told_apart) {
  const auto first = call(1, once("k", 1));
  take({&first});
  BOOST_TEST((verdict_of(call(1, once("k", 2))) == intake_verdict::other_body));
  BOOST_TEST(count("messages") == "1");
}

BOOST_AUTO_TEST_CASE(the_same_key_in_another_project_or_environment_is_another) {
  auto here = call(1, once("k")), elsewhere = call(1, once("k")), stranger = call(1, once("k"));
  elsewhere.environment = "live";
  stranger.project = must(create_project(*db, ids, "other", "cli:test"));
  stranger.stream = must(direct_stream(*db, route, stranger.project));
  for (const auto& reply : take({&here, &elsewhere, &stranger}))
    BOOST_TEST((reply.verdict == intake_verdict::stored));
  BOOST_TEST(count("messages") == "3");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(an_equal_call_beside_an_open_one_is_in_work_and_replayed_after_it) {
  const auto first = call(1, once("k")), second = call(1, once("k"));
  const auto other = connect();
  must(other->in_transaction([&](session& open) {
    const intake_call* const only[] = {&first};
    auto stored = take_in(open, only);
    BOOST_TEST((must(stored).at(0).verdict == intake_verdict::stored));
    BOOST_TEST((verdict_of(second) == intake_verdict::in_work));
    return stored;
  }));
  BOOST_TEST((verdict_of(second) == intake_verdict::replayed));
  BOOST_TEST(count("messages") == "1");
}

BOOST_AUTO_TEST_CASE(two_equal_calls_at_once_store_one_each_time) {
  for (int round = 0; round < 50; ++round) {
    std::vector<std::future<intake_verdict>> racers;
    for (int i = 0; i < 2; ++i)
      racers.push_back(
          std::async(std::launch::async, [this, one = call(1, once("k" + std::to_string(round)))] {
            const auto on = connect();
            const intake_call* const only[] = {&one};
            return must(take_in(*on, only)).at(0).verdict;
          }));
    int stored = 0;
    for (auto& racer : racers) {
      const auto verdict = racer.get();
      stored += verdict == intake_verdict::stored ? 1 : 0;
      BOOST_TEST((verdict == intake_verdict::stored || verdict == intake_verdict::in_work
                  || verdict == intake_verdict::replayed));
    }
    BOOST_TEST(stored == 1);
  }
  BOOST_TEST(count("messages") == "50");
}

BOOST_AUTO_TEST_CASE(a_failure_before_the_commit_frees_the_key) {
  auto broken = call(1, once("k"));
  broken.messages[0].fields = "{";
  BOOST_TEST((failure_of(broken) == error_kind::data));
  const auto failed = db->in_transaction([&](session& open) -> result<done> {
    const auto one = call(1, once("k"));
    const intake_call* const only[] = {&one};
    must(take_in(open, only));
    return error{error_kind::unavailable, "killed"};
  });
  BOOST_TEST(!failed);
  BOOST_TEST((verdict_of(call(1, once("k"))) == intake_verdict::stored));
  BOOST_TEST(count("messages") == "1");
}

BOOST_AUTO_TEST_CASE(a_call_of_an_ended_key_stores_nothing_beside_calls_that_are_stored) {
  std::vector<intake_call> calls;
  for (const std::string name : {"good", "revoked", "expired"}) {
    new_key key;
    key.environment = "test";
    key.name = name;
    key.scopes = {key_scope::send};
    calls.push_back(call(2, once(name)));
    calls.back().key = must(create_key(*db, ids, key, "cli:test"));
  }
  must(revoke_key(*db, calls[1].key, "cli:test"));
  must(expire_key(*db, calls[2].key, "cli:test"));
  const auto replies = take({&calls[0], &calls[1], &calls[2]});
  BOOST_TEST((replies[0].verdict == intake_verdict::stored));
  BOOST_TEST((replies[1].verdict == intake_verdict::key_ended));
  BOOST_TEST((replies[2].verdict == intake_verdict::key_ended));
  BOOST_TEST(count("messages") == "2");
  BOOST_TEST(count("idempotency_keys") == "1");
  BOOST_TEST(ask("SELECT min(key) FROM messages") == std::to_string(calls[0].key.value()));
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(intake_that_waited_for_a_revocation_stores_nothing) {
  new_key key;
  key.environment = "test";
  key.name = "k";
  key.scopes = {key_scope::send};
  auto one = call();
  one.key = must(create_key(*db, ids, key, "cli:test"));
  pqxx::connection operators{dsn};
  pqxx::work revoke{operators};
  revoke.exec("SELECT FROM api_keys FOR UPDATE");
  revoke.exec("UPDATE api_keys SET revoked_at = clock_timestamp()");
  auto taking = start_blocked(*db, [&] { return verdict_of(one); });
  revoke.commit();
  BOOST_TEST((taking.get() == intake_verdict::key_ended));
  BOOST_TEST(count("messages") == "0");
}

BOOST_AUTO_TEST_CASE(five_thousand_messages_come_in_at_once) {
  auto many = call(5000);
  for (std::size_t i = 0; i < many.messages.size(); i += 2)
    many.messages[i].fields = R"({"name": "x"})";
  BOOST_TEST((verdict_of(many) == intake_verdict::stored));
  BOOST_TEST(states(direct) == "queued=5000");
  BOOST_TEST(ask("SELECT sum(open) FROM counters") == "5000");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(repeated_after_doubt_a_stored_call_is_ours_and_counted_once) {
  const auto known = call(3, once("k")), lost = call(2);
  take({&known});
  const auto replies = take({&lost, &known}, true);
  BOOST_TEST((replies[0].verdict == intake_verdict::stored));
  BOOST_TEST((replies[1].verdict == intake_verdict::stored));
  BOOST_TEST(states(direct) == "queued=5");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_repeat_waits_for_the_first_try_where_that_is_still_running) {
  const auto one = call(3);
  const auto other = connect();
  std::future<intake_verdict> repeat;
  must(other->in_transaction([&](session& open) {
    const intake_call* const only[] = {&one};
    auto stored = take_in(open, only);
    repeat = start_blocked(*db, [&] { return verdict_of(one, true); });
    return stored;
  }));
  BOOST_TEST((repeat.get() == intake_verdict::stored));
  BOOST_TEST(states(direct) == "queued=3");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(ids_that_others_have_are_refused) {
  const auto first = call();
  take({&first});
  auto second = call();
  second.messages[0].id = first.messages[0].id;
  BOOST_TEST((failure_of(second) == error_kind::data));
  BOOST_TEST((failure_of(second, true) == error_kind::data));
  BOOST_TEST(count("contents") == "1");
}

BOOST_AUTO_TEST_CASE(texts_that_cannot_be_stored_are_refused_as_data) {
  for (const auto& text : {std::string{"a\0b", 3}, std::string{"\xff\xfe"}}) {
    auto one = call();
    one.contents[0].subject = text;
    BOOST_TEST((failure_of(one) == error_kind::data));
  }
  auto one = call();
  one.messages[0].recipients.clear();
  BOOST_TEST((failure_of(one) == error_kind::data));
  BOOST_TEST(count("messages") == "0");
  BOOST_TEST((verdict_of(call()) == intake_verdict::stored));
}

BOOST_AUTO_TEST_CASE(other_work_is_done_once_as_well) {
  const auto answer = [&](const idempotency& guard) {
    return must(db->in_transaction(
        [&](session& open) { return answer_once(open, project_id{1}, "test", guard); }));
  };
  BOOST_TEST((answer(once("k")).verdict == intake_verdict::stored));
  BOOST_TEST((answer(once("k")).verdict == intake_verdict::replayed));
  BOOST_TEST((answer(once("k", 2)).verdict == intake_verdict::other_body));
  BOOST_TEST((verdict_of(call(1, once("k"))) == intake_verdict::replayed));
  pqxx::connection holder{dsn};
  pqxx::work held{holder};
  held.exec("SELECT pg_try_advisory_xact_lock(hashtextextended('1 test busy', 0))");
  BOOST_TEST((answer(once("busy")).verdict == intake_verdict::in_work));
}

BOOST_AUTO_TEST_CASE(answers_are_forgotten_after_seven_days) {
  const auto first = call(1, once("old")), second = call(1, once("new"));
  take({&first, &second});
  ask("UPDATE idempotency_keys SET created_at = created_at - interval '169 hours' WHERE key = "
      "'old'");
  BOOST_TEST(must(forget_answers(*db, 100)) == 1);
  BOOST_TEST(must(forget_answers(*db, 100)) == 0);
  BOOST_TEST(ask("SELECT key FROM idempotency_keys") == "new");
}

BOOST_AUTO_TEST_SUITE_END()
