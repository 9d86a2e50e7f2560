/// What operators change in the database: unknown messages in bulk, keys, projects, the audit.
#include <boost/test/unit_test.hpp>

#include <string>

#include <rapidjson/document.h>

#include "test/support/installation.hpp"
#include "transport/api/token.hpp"

namespace paceline::test {
namespace {

rapidjson::Document parsed(const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.c_str());
  BOOST_REQUIRE_MESSAGE(!document.HasParseError(), text);
  return document;
}

/// A campaign of which nobody knows what became of it, since yesterday.
struct doubtful_installation : installation {
  doubtful_installation() : node(serve()) {
    std::vector<std::string> recipients;
    for (int i = 0; i < 4; ++i)
      recipients.push_back("error+" + std::to_string(i) + "@simulator.paceline.test");
    campaign = send(recipients);
    node->wait_until("all are unknown", [this] { return is_over(campaign); });
    BOOST_TEST(states_of(campaign) == "acceptance_unknown=4");
    ask("UPDATE message_states SET changed_at = changed_at - interval '25 hours'");
  }
  std::vector<std::string> resolve(const std::string& as, const std::vector<std::string>& more) {
    std::vector<std::string> command{"messages",
                                     "resolve",
                                     "--campaign",
                                     std::to_string(campaign),
                                     "--without-feedback-for",
                                     "24h",
                                     "--as",
                                     as};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  std::unique_ptr<served_node> node;
  std::int64_t campaign = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(operator_records)

BOOST_AUTO_TEST_CASE(a_bulk_resolution_is_a_dry_run_until_it_is_said_yes_to) {
  doubtful_installation home;
  BOOST_TEST(home.must_run(home.resolve("accepted", {}))
             == "4 messages would be resolved as accepted. Add --yes to do it.\n");
  BOOST_TEST(home.states_of(home.campaign) == "acceptance_unknown=4");
  BOOST_TEST(home.must_run(home.resolve("accepted", {"--yes"}))
             == "4 messages are accepted now.\n");
  BOOST_TEST(home.states_of(home.campaign) == "accepted=4");
  const auto again = parsed(home.must_run(home.resolve("accepted", {"--yes", "--json"})));
  BOOST_TEST(again["messages"].GetInt() == 0);
  BOOST_TEST(home.ask("SELECT count(*) FROM audit_log WHERE action = 'messages.resolve'") == "1");
  const auto unknown = home.run({"messages", "resolve", "--campaign", "17",
                                 "--without-feedback-for", "24h", "--as", "accepted"});
  BOOST_TEST(unknown.status == 1);
  BOOST_TEST(unknown.errors.find("there is no campaign 17") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_sent_again_in_bulk_goes_out_once_more) {
  doubtful_installation home;
  const auto before = home.sent();
  home.ask("UPDATE messages SET recipients = ARRAY['r' || ordinal || '@example.com']");
  BOOST_TEST(home.must_run(home.resolve("send-again", {"--yes"}))
             == "4 messages are closed as rejected and sent again.\n");
  home.node->wait_until("they are sent", [&home] {
    return home.ask("SELECT count(*) FROM message_states t JOIN messages m USING (id)"
                    " WHERE m.resend_of IS NOT NULL AND t.status = 3")
           == "4";
  });
  BOOST_TEST(home.states_of(home.campaign) == "rejected=4");
  BOOST_TEST(home.sent() == before + 4);
}

BOOST_AUTO_TEST_CASE(a_key_is_made_shown_once_listed_and_revoked) {
  installation home;
  const auto created = home.run({"keys", "create", "--name", "shop", "--scope", "send,read"});
  BOOST_REQUIRE_MESSAGE(created.status == 0, created.errors);
  const auto token = parse_token(created.output.substr(0, created.output.find('\n')));
  BOOST_REQUIRE(token);
  BOOST_TEST(created.output.find('\n') == created.output.size() - 1);
  const auto id = std::to_string(token->key.value());
  const auto secret = created.output.substr(created.output.rfind('_') + 1, 43);
  BOOST_TEST(created.errors.find(secret) == std::string::npos);
  const auto listed = home.must_run({"keys", "list"});
  BOOST_TEST(listed.find(id) != std::string::npos);
  BOOST_TEST(listed.find("send,read") != std::string::npos, listed);
  BOOST_TEST(home.ask("SELECT encode(secret_hash, 'hex') <> '' AND name = 'shop' FROM api_keys")
             == "t");

  home.must_run({"keys", "create", "--name", "shop", "--json"});
  const auto third = home.run({"keys", "create", "--name", "shop"});
  BOOST_TEST(third.status == 1); // one to use and one to change to
  BOOST_TEST(third.output == "");

  home.must_run({"keys", "revoke", id});
  BOOST_TEST(home.must_run({"keys", "list"}).find(id) == std::string::npos);
  BOOST_TEST(home.must_run({"keys", "list", "--all"}).find("revoked") != std::string::npos);
  BOOST_TEST(home.run({"keys", "revoke", "17"}).status == 1);
  const auto trail = parsed(home.must_run({"audit", "list", "--json"}));
  BOOST_REQUIRE(trail.Size() >= 3u);
  BOOST_TEST(std::string{trail[0]["action"].GetString()} == "key.revoke");
  BOOST_TEST(std::string{trail[0]["actor"].GetString()}.starts_with("cli:"));
  BOOST_TEST(home.ask("SELECT count(*) FROM audit_log WHERE detail::text LIKE '%" + secret + "%'")
             == "0");
}

BOOST_AUTO_TEST_CASE(a_key_kept_for_rotation_expires_and_its_mail_still_goes) {
  installation home;
  const auto made = parsed(home.must_run({"keys", "create", "--name", "shop", "--json"}));
  const std::string id = made["key"].GetString();
  const auto ended = parsed(home.must_run({"keys", "revoke", id, "--keep-queued", "--json"}));
  BOOST_TEST(std::string{ended["state"].GetString()} == "expired");
  BOOST_TEST(home.ask("SELECT revoked_at IS NULL FROM api_keys") == "t");
}

BOOST_AUTO_TEST_CASE(a_key_needs_a_configured_environment_and_a_project) {
  installation home{{"environments.stage.kind=test"}};
  const auto which = home.run({"keys", "create", "--name", "shop"});
  BOOST_TEST(which.status == 2);
  BOOST_TEST(which.errors.find("--environment") != std::string::npos, which.errors);
  const auto wrong = home.run({"keys", "create", "--name", "shop", "--environment", "lve"});
  BOOST_TEST(wrong.status == 2);
  BOOST_TEST(wrong.errors.find("There is no environment lve") != std::string::npos, wrong.errors);
  const auto nobody = home.run(
      {"keys", "create", "--name", "shop", "--environment", "stage", "--project", "nobody"});
  BOOST_TEST(nobody.status == 1);
  BOOST_TEST(home.ask("SELECT count(*) FROM api_keys") == "0");
}

BOOST_AUTO_TEST_CASE(a_project_is_made_and_its_limits_are_set) {
  installation home;
  home.must_run({"projects", "create", "shop", "--sender-domain", "Shop.Example.com"});
  BOOST_TEST(home.run({"projects", "create", "shop"}).status == 1);
  home.must_run({"projects", "set", "shop", "--max-outstanding", "500"});
  const auto find = [&home]() -> std::string {
    const auto listed = parsed(home.must_run({"projects", "list", "--json"}));
    for (const auto& each : listed.GetArray())
      if (std::string{each["project"].GetString()} == "shop")
        return std::to_string(each["sender_domains"].Size()) + " "
               + std::to_string(each["max_outstanding"].GetInt64());
    return {};
  };
  BOOST_TEST(find() == "1 500");
  BOOST_TEST(home.ask("SELECT sender_domains[1] FROM projects WHERE name = 'shop'")
             == "shop.example.com");
  home.must_run({"projects", "set", "shop", "--any-sender-domain"});
  BOOST_TEST(find() == "0 500");
  BOOST_TEST(home.run({"projects", "set", "nobody", "--any-sender-domain"}).status == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
