/// The API of a running node, as a client with curl has it.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

/// A node with its API, and a key that may do everything there.
class api_node {
public:
  api_node() : home({"api.listen=127.0.0.1:0"}), node(home.serve()) {
    const auto made = home.must_run({"keys", "create", "--name", "test", "--scope", "admin"});
    const auto at = made.find("pl_");
    BOOST_REQUIRE(at != std::string::npos);
    token_ = made.substr(at, made.find_first_of(" \t\r\n\"", at) - at);
  }

  /// The answer's body, a blank and the status.
  std::string call(const std::string& method, const std::string& path,
                   const std::string& body = {}) {
    std::vector<std::string> arguments{"curl",
                                       "-sS",
                                       "-X",
                                       method,
                                       "-H",
                                       "Authorization: Bearer " + token_,
                                       "-w",
                                       " %{http_code}",
                                       "http://127.0.0.1:" + std::to_string(node->port_of("api"))
                                           + path};
    if (!body.empty())
      arguments.insert(arguments.end(), {"-H", "Content-Type: application/json", "-d", body});
    return run_program(arguments).output;
  }
  std::string send(const std::string& to, const std::string& more = {}) {
    return call("POST", "/v1/send",
                R"({"from":"Shop <shop@example.com>","subject":"Hi","text":"Hello","to":")" + to
                    + "\"" + more + "}");
  }

  installation home;
  std::unique_ptr<served_node> node;

private:
  std::string token_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(api)

BOOST_AUTO_TEST_CASE(what_was_sent_by_http_is_handed_to_the_provider_once) {
  api_node at;
  BOOST_TEST(at.send("anna@example.com").ends_with(" 202"));
  BOOST_TEST(at.call("POST", "/v1/batch",
                     R"({"content":{"from":"a@example.com","subject":"s","text":"t"},"messages":[)"
                     R"({"to":"b@example.com"},{"to":"c@example.com"}]})")
                 .ends_with(" 202"));
  at.node->wait_until("all are accepted", [&at] {
    return at.home.count("SELECT count(*) FROM message_states WHERE "
                         "status = 3")
           == 3;
  });
  BOOST_TEST(at.home.sent() == 3u);
  BOOST_TEST(at.home.broken() == "");
}

BOOST_AUTO_TEST_CASE(an_address_suppressed_in_one_spelling_gets_nothing_in_another) {
  api_node at;
  BOOST_TEST(
      at.call("POST", "/v1/suppressions", R"({"address":"TEST@test.com"})").ends_with(" 200"));
  BOOST_TEST(at.send("test@TEST.com").ends_with(" 202"));
  at.node->wait_until("it is suppressed", [&at] {
    return at.home.count("SELECT count(*) FROM message_states WHERE status = 10") == 1;
  });
  BOOST_TEST(at.home.sent() == 0u);
  BOOST_TEST(at.call("GET", "/v1/messages?status=suppressed").find("RECIPIENT_SUPPRESSED")
             != std::string::npos);
  BOOST_TEST(at.call("DELETE", "/v1/suppressions/Test@Test.Com").ends_with("204"));
  BOOST_TEST(at.call("GET", "/v1/suppressions/TEST@test.com").ends_with(" 404"));
  BOOST_TEST(at.send("TEST@test.com").ends_with(" 202"));
  at.node->wait_until("it is accepted", [&at] { return at.home.sent() == 1; });
}

BOOST_AUTO_TEST_CASE(no_line_break_gets_into_a_header_and_nothing_is_sent) {
  api_node at;
  for (const std::string breaking : {"\\r\\n", "\\r", "\\n", "\\u0000"}) {
    for (const std::string& more :
         {R"(,"headers":{"In-Reply-To":"<a@b>)" + breaking + R"(Bcc: x@example.net"})",
          R"(,"headers":{"X)" + breaking + R"(Bcc":"x@example.net"})",
          R"(,"reply_to":"A)" + breaking + R"( <a@example.com>")",
          R"(,"cc":"A)" + breaking + R"( <a@example.com>")"}) {
      const auto answer = at.send("anna@example.com", more);
      BOOST_TEST(answer.ends_with(" 400"), more << ": " << answer);
      BOOST_TEST(answer.find("\"pointer\":\"/") != std::string::npos, answer);
    }
  }
  BOOST_TEST(at.send("anna@example.com", R"(,"headers":{"A:B":"x"})").ends_with(" 400"));
  BOOST_TEST(at.home.count("SELECT count(*) FROM messages") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
