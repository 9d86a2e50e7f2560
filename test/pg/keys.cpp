/// Keys and projects: their rules, and keys against claims.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/audit.hpp"
#include "storage/keys.hpp"
#include "storage/messages.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

struct keys_fixture : dispatch_fixture {
  new_key wanted(std::uint8_t secret = 1) {
    new_key key;
    key.environment = "test";
    key.name = "shop";
    key.scopes = {key_scope::send, key_scope::read};
    key.secret_hash.fill(secret);
    return key;
  }
  key_id make(std::uint8_t secret = 1) {
    return must(create_key(*db, ids, wanted(secret), "cli:test"));
  }
  stream_id accept(key_id key, int count) {
    new_message message;
    message.route = route;
    message.key = key;
    message.what.sender = "a@example.org";
    message.recipients = {"b@example.org"};
    stream_id stream;
    for (int i = 0; i < count; ++i)
      stream = must(show_message(*db, must(accept_message(*db, ids, message)))).stream;
    return stream;
  }
  std::string trail() { return ask("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log"); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(keys, keys_fixture)

BOOST_AUTO_TEST_CASE(a_key_is_found_as_it_was_made) {
  auto asked = wanted(0xab);
  asked.expires_in = std::chrono::hours{1};
  asked.limit_per_minute = 60;
  const auto id = must(create_key(*db, ids, asked, "cli:test"));
  const auto key = must(find_key(*db, id));
  BOOST_TEST(key.project_name == "default");
  BOOST_TEST(key.environment == "test");
  BOOST_TEST((key.secret_hash == asked.secret_hash));
  BOOST_TEST((key.scopes == asked.scopes));
  BOOST_TEST(key.is_valid);
  BOOST_TEST((key.expires_in > std::chrono::minutes{59}));
  BOOST_TEST((key.expires_in <= std::chrono::hours{1}));
  BOOST_TEST(key.limit_per_minute.value() == 60);
  BOOST_TEST(key.last_used_at == "");
  BOOST_TEST(must(list_keys(*db, project_id{1})).size() == 1U);
  BOOST_TEST(must(list_keys(*db, project_id{2})).empty());
  BOOST_TEST((find_key(*db, key_id{1}).failure().kind == error_kind::not_found));
}

BOOST_AUTO_TEST_CASE(scopes_include_what_they_say) {
  api_key key;
  key.scopes = {key_scope::manage};
  BOOST_TEST(key.may(key_scope::send));
  BOOST_TEST(!key.may(key_scope::admin));
  key.scopes = {key_scope::read};
  BOOST_TEST(!key.may(key_scope::send));
  key.scopes = {key_scope::admin};
  BOOST_TEST(key.may(key_scope::manage));
  BOOST_TEST((parse_scope(name(key_scope::manage)) == key_scope::manage));
  BOOST_TEST(!parse_scope("root"));
}

BOOST_AUTO_TEST_CASE(two_keys_of_a_name_are_valid_at_once_and_no_third) {
  const auto first = make(1);
  BOOST_TEST(make(1).value() == first.value()); // the repeat after an error
  make(2);
  const auto third = create_key(*db, ids, wanted(3), "cli:test");
  BOOST_TEST((third.failure().kind == error_kind::refused));
  must(expire_key(*db, first, "cli:test"));
  BOOST_TEST(!must(find_key(*db, first)).is_valid);
  make(3);
  auto nowhere = wanted(4);
  nowhere.project = "none";
  BOOST_TEST((create_key(*db, ids, nowhere, "cli:test").failure().kind == error_kind::not_found));
  BOOST_TEST(trail() == "key.create key.create key.expire key.create");
}

BOOST_AUTO_TEST_CASE(many_at_once_make_no_third_key) {
  std::vector<std::future<bool>> makers;
  for (std::uint8_t i = 1; i <= 6; ++i)
    makers.push_back(std::async(std::launch::async, [this, i] {
      const auto on = connect();
      id_source own{i};
      return !!create_key(*on, own, wanted(i), "cli:test");
    }));
  int made = 0;
  for (auto& maker : makers)
    made += maker.get() ? 1 : 0;
  BOOST_TEST(made == 2);
}

BOOST_AUTO_TEST_CASE(ends_are_repeatable_and_noted_once) {
  const auto key = make();
  for (int i = 0; i < 2; ++i) {
    must(expire_key(*db, key, "cli:test"));
    must(revoke_key(*db, key, "cli:test"));
  }
  BOOST_TEST(trail() == "key.create key.expire key.revoke");
  BOOST_TEST(must(find_key(*db, key)).revoked_at != "");
  BOOST_TEST((revoke_key(*db, key_id{1}, "cli:test").failure().kind == error_kind::not_found));
  BOOST_TEST((expire_key(*db, key_id{1}, "cli:test").failure().kind == error_kind::not_found));
  const auto entries = must(list_audit(*db, 0, 2));
  BOOST_TEST(entries.at(0).action == "key.revoke");
  BOOST_TEST(entries.at(0).actor == "cli:test");
  BOOST_TEST(must(list_audit(*db, entries.at(1).id, 10)).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_use_is_noted_while_a_claim_holds_the_key) {
  const auto key = make();
  const auto stream = accept(key, 1);
  const auto request = ask_for(due(stream), 1);
  const auto other = connect();
  must(db->in_transaction([&](session& open) {
    auto claimed = claim_group(open, request);
    must(touch_keys(*other, {key, key_id{5}}));
    return claimed;
  }));
  BOOST_TEST(must(find_key(*db, key)).last_used_at != "");
}

BOOST_AUTO_TEST_CASE(a_claim_that_waited_for_a_revocation_gets_nothing_of_the_key) {
  const auto key = make();
  auto rows = due(accept(key, 2));
  const auto others = due(make_campaign(1));
  rows.insert(rows.end(), others.begin(), others.end());
  const auto request = ask_for(rows, 1);
  pqxx::connection operators{dsn};
  pqxx::work revoke{operators};
  revoke.exec("SELECT FROM api_keys FOR UPDATE");
  revoke.exec("UPDATE api_keys SET revoked_at = clock_timestamp()");
  auto claim = start_blocked(*db, [&] { return must(claim_group(*db, request)); });
  revoke.commit();
  const auto reply = claim.get();
  BOOST_TEST(reply.still_owner);
  BOOST_REQUIRE(reply.rows.size() == 1U);
  BOOST_TEST((reply.rows[0].of == others[0].of));
  BOOST_TEST(must(settle_skipped(*db, attempts_of(rows), 1)) == 2);
  BOOST_TEST(states(rows[0].stream) == "canceled=2");
  BOOST_TEST(ask("SELECT count(*) FROM message_states WHERE reason = 20") == "2");
  BOOST_TEST(counters_match());
}

BOOST_AUTO_TEST_CASE(a_revocation_waits_for_a_claim_and_a_repeat_of_that_may_not_start) {
  const auto key = make();
  const auto request = ask_for(due(accept(key, 2)), 1);
  const auto other = connect();
  std::future<result<done>> revoking;
  const auto reply = must(db->in_transaction([&](session& open) {
    auto claimed = claim_group(open, request);
    revoking = start_blocked(*other, [&] { return revoke_key(*other, key, "cli:test"); });
    return claimed;
  }));
  must(revoking.get());
  BOOST_TEST(reply.rows.size() == 2U);
  BOOST_TEST(reply.rows[0].may_start);
  const auto again = must(claim_group(*db, request));
  BOOST_REQUIRE(again.rows.size() == 2U);
  BOOST_TEST(!again.rows[0].may_start);
}

BOOST_AUTO_TEST_CASE(an_expired_key_sends_what_it_has_queued_but_queues_no_more) {
  const auto key = make();
  const auto rows = due(accept(key, 2));
  must(expire_key(*db, key, "cli:test"));
  BOOST_TEST(must(claim_group(*db, ask_for(rows, 1))).rows.size() == 2U);
  new_message message;
  message.route = route;
  message.key = key;
  message.recipients = {"b@example.org"};
  BOOST_TEST((accept_message(*db, ids, message).failure().kind == error_kind::refused));
}

BOOST_AUTO_TEST_CASE(projects_are_made_once_and_changed_by_name) {
  const auto made = must(create_project(*db, ids, "shop", "cli:test"));
  BOOST_TEST((create_project(*db, ids, "shop", "cli:test").failure().kind == error_kind::refused));
  must(change_project(*db, "shop", std::vector<std::string>{"example.org"}, std::nullopt, "cli:t"));
  must(change_project(*db, "shop", std::nullopt, 7, "cli:test"));
  const auto all = must(list_projects(*db));
  BOOST_REQUIRE(all.size() == 2U);
  BOOST_TEST(all[1].id.value() == made.value());
  BOOST_TEST(all[1].sender_domains.at(0) == "example.org");
  BOOST_TEST(all[1].max_outstanding == 7);
  BOOST_TEST((change_project(*db, "none", std::nullopt, 7, "cli:test").failure().kind
              == error_kind::not_found));
  BOOST_TEST(trail() == "project.create project.change project.change");
  BOOST_TEST(ask("SELECT detail::jsonb FROM audit_log ORDER BY id DESC LIMIT 1")
             == R"({"max_outstanding": 7})");
}

BOOST_AUTO_TEST_CASE(a_sender_is_allowed_from_the_projects_domains_and_those_below_them) {
  struct example {
    std::string sender;
    bool allowed;
  };
  must(change_project(*db, "default", std::vector<std::string>{"Example.org", "b.net"}, {}, "cli"));
  for (const auto& [sender, allowed] : {example{"a@example.org", true},
                                        {"Shop <a@EXAMPLE.org>", true},
                                        {"\"x@evil.org\" <a@mail.example.org>", true},
                                        {"a@b.net", true},
                                        {"a@notexample.org", false},
                                        {"a@example.org.evil.com", false},
                                        {"\"a@example.org\" <b@evil.com>", false},
                                        {"a@org", false},
                                        {"a@xb.net", false}}) {
    new_message message;
    message.route = route;
    message.what.sender = sender;
    message.recipients = {"b@example.org"};
    const auto view = must(show_message(*db, must(accept_message(*db, ids, message))));
    const auto content = content_id{std::stoll(
        ask("SELECT content FROM messages WHERE id = " + std::to_string(view.id.value())))};
    BOOST_TEST_INFO(sender);
    BOOST_TEST(must(load_contents(*db, {content}).at(content)).sender_allowed == allowed);
  }
}

BOOST_AUTO_TEST_CASE(outstanding_is_what_is_open_or_not_expanded_yet_of_one_environment) {
  accept({}, 2);
  const auto campaign = make_campaign(30, false);
  must(expand_page(*db, campaign, 10, 0));
  claim_due(campaign, 1, 3);
  make_campaign(5);
  BOOST_TEST(must(outstanding_messages(*db, project_id{1}, "test")) == 37);
  BOOST_TEST(must(outstanding_messages(*db, project_id{1}, "live")) == 0);
  BOOST_TEST(must(outstanding_messages(*db, project_id{2}, "test")) == 0);
  must(cancel_campaign(*db, campaign, "cli:test"));
  BOOST_TEST(must(outstanding_messages(*db, project_id{1}, "test")) == 7);
}

BOOST_AUTO_TEST_SUITE_END()
