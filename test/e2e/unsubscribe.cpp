/// Unsubscribe links of a running node, as mailbox providers and people with browsers come to them.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "test/support/installation.hpp"
#include "transport/mail/unsubscribe_link.hpp"

namespace paceline::test {
namespace {

const std::string base = "https://news.example.com", key = "0123456789abcdef0123456789abcdef";

class link_node {
public:
  link_node()
      : home({"unsubscribe.base_url=" + base, "unsubscribe.keys=" + key, "log.level=debug"}),
        node(home.serve()) {}

  /// The path that a message of `campaign` to `address` would carry.
  static std::string path(std::int64_t campaign, const std::string& address) {
    return unsubscribe_links{base, {key}}
        .link({project_id{1}, "test", stream_id{campaign}, address})
        .substr(base.size());
  }
  /// What curl prints of the answer, its head included.
  std::string curl(const std::string& path, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"curl", "-sSi"});
    more.push_back("http://127.0.0.1:" + std::to_string(node->port_of("api")) + path);
    return run_program(more).output;
  }
  std::string click(const std::string& path) {
    return curl(path, {"-d", "List-Unsubscribe=One-Click"});
  }

  installation home;
  std::unique_ptr<served_node> node;
};

bool is_ok(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 200 ");
}

} // namespace

BOOST_AUTO_TEST_SUITE(unsubscribe)

BOOST_AUTO_TEST_CASE(who_clicks_gets_no_more_campaigns_but_what_he_asked_for) {
  link_node at;
  const auto first = at.home.send({"r1@example.com"});
  at.node->wait_until("it is over", [&] { return at.home.is_over(first); });
  const auto path = link_node::path(first, "r1@example.com");
  BOOST_TEST(is_ok(at.curl(path)));
  BOOST_TEST(is_ok(at.curl(path, {"-I"})));
  BOOST_TEST(at.home.count("SELECT count(*) FROM suppressions") == 0);
  BOOST_TEST(is_ok(at.click(path)));
  BOOST_TEST(is_ok(at.click(path)));
  BOOST_TEST(at.home.count("SELECT count(*) FROM unsubscribes") == 1);
  const auto second = at.home.send({"r1@example.com", "r2@example.com"});
  at.home.must_run({"send", "--route", "test:sim", "--from", "shop@example.com", "--to",
                    "r1@example.com", "--subject", "Receipt", "--text", "Thank you."});
  at.node->wait_until("all is over", [&] {
    return at.home.is_over(second)
           && at.home.count("SELECT count(*) FROM message_states WHERE status IN (0, 1)") == 0;
  });
  BOOST_TEST(at.home.states_of(second) == "accepted=1 suppressed=1");
  BOOST_TEST(at.home.sent() == 3u);
  BOOST_TEST(at.home.broken() == "");
}

BOOST_AUTO_TEST_CASE(the_page_is_complete_in_itself_and_its_secret_is_in_no_log) {
  link_node at;
  const auto path = link_node::path(17, "r1@example.com");
  const auto page = at.curl(path);
  for (const auto* part :
       {"Content-Type: text/html; charset=utf-8\r\n", "Content-Security-Policy: default-src 'none'",
        "Cache-Control: no-store\r\n", "Referrer-Policy: no-referrer\r\n",
        "X-Robots-Tag: noindex, nofollow\r\n", "<form method=\"post\">"})
    BOOST_TEST(page.find(part) != std::string::npos, part << " is missing in\n" << page);
  at.click(path);
  at.click("/%75nsubscribe/" + path.substr(13));
  at.curl(path + "x");
  at.curl(path, {"-X", "PUT"});
  at.node->wait_until("the requests are in the log",
                      [&] { return at.node->logged("HTTP_REQUEST") >= 5; });
  BOOST_TEST(at.node->logged(path.substr(13, 30)) == 0);
  BOOST_TEST(at.node->logged("/unsubscribe/...") == 5);
  BOOST_TEST(at.node->logged("r1@example.com") == 0);
}

BOOST_AUTO_TEST_CASE(what_is_no_link_of_ours_is_not_found_and_too_much_is_refused) {
  link_node at;
  const auto path = link_node::path(17, "r1@example.com");
  BOOST_TEST(at.click(path.substr(0, 60)).starts_with("HTTP/1.1 404 "));
  BOOST_TEST(at.curl(path, {"-X", "POST"}).starts_with("HTTP/1.1 400 "));
  const auto large = "@" + at.home.write("large", std::string(100'000, 'x'));
  BOOST_TEST(at.curl(path, {"--data-binary", large}).starts_with("HTTP/1.1 413 "));
  const auto put = at.curl(path, {"-X", "PUT"});
  BOOST_TEST(put.starts_with("HTTP/1.1 405 "));
  BOOST_TEST(put.find("Allow: GET, POST, OPTIONS, HEAD\r\n") != std::string::npos, put);
  BOOST_TEST(at.curl(path, {"-X", "OPTIONS"}).starts_with("HTTP/1.1 204 "));
  BOOST_TEST(at.home.count("SELECT count(*) FROM unsubscribes") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
