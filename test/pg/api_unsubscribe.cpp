/// Unsubscribe links against the API on a real database: test/vectors/unsubscribe.
#include "test/pg/api_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>

#include "storage/suppressions.hpp"
#include "transport/api/json_document.hpp"
#include "transport/mail/unsubscribe_link.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

const std::string base = "https://news.example.com", address = "anna@example.org";
const std::string old_key = "an old key of at least 32 octets, once";
const std::string new_key = "the new key of at least 32 octets, from today on";

struct unsubscribe_fixture : api_fixture {
  unsubscribe_fixture() {
    options.links = std::make_shared<const unsubscribe_links>(base, std::vector{new_key, old_key});
    restart();
  }

  static unsubscribe_claim claim() { return {project_id{1}, "test", stream_id{77}, address}; }
  static std::string path(const unsubscribe_links& links) {
    return links.link(claim()).substr(base.size());
  }
  std::string good_path() { return path(*options.links); }

  /// Without a key, as mailbox providers come.
  http_response ask(const std::string& method, const std::string& target,
                    const std::string& type = {}, const std::string& body = {}) {
    http_request request;
    request.id = "req-1";
    request.method = method;
    request.path = target;
    if (!type.empty())
      request.headers.emplace_back("Content-Type", type);
    request.body = body;
    return service().answer(request);
  }
  http_response click(const std::string& target) {
    return ask("POST", target, "application/x-www-form-urlencoded", "List-Unsubscribe=One-Click");
  }
  std::string path_for(std::string_view kind) {
    auto target = good_path();
    if (kind == "tampered")
      target[target.size() / 2] = target[target.size() / 2] == 'A' ? 'B' : 'A';
    else if (kind == "truncated")
      target.resize(target.rfind('/') + 1 + 38);
    else if (kind == "old-key")
      target = path(unsubscribe_links{base, {old_key}});
    else if (kind == "wrong-purpose") // one of the API's own cursors: signed by nobody for this
      target = "/unsubscribe/Y3Vyc29yOjEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MA";
    return target;
  }
  bool is_unsubscribed() {
    const auto found = find_suppression(*db, project_id{1}, "test", address);
    return found && found->reason == "unsubscribe" && count("unsubscribes") == 1;
  }
  void forget() {
    database_fixture::ask("DELETE FROM unsubscribes");
    database_fixture::ask("DELETE FROM suppressions");
  }
};

std::string text_of(const json_value& of, std::string_view key) {
  for (const auto one : of)
    if (one.key() == key)
      return one.kind() == json_kind::null ? std::string{} : std::string{one.text()};
  return {};
}

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(api_unsubscribe, unsubscribe_fixture)

BOOST_AUTO_TEST_CASE(every_case_of_the_vectors_is_answered_as_it_says) {
  const auto text = read_file(PACELINE_SOURCE_DIR "/test/vectors/unsubscribe/cases.json");
  const auto read = json_document::read(text);
  BOOST_REQUIRE(std::holds_alternative<json_document>(read));
  int cases = 0;
  for (const auto part : std::get<json_document>(read).root()) {
    if (part.key() != "cases")
      continue;
    for (const auto one : part) {
      ++cases;
      BOOST_TEST_INFO_SCOPE(text_of(one, "name"));
      auto body = text_of(one, "body");
      if (body == "x*10MB")
        body = std::string(10 << 20, 'x');
      http_response answer;
      const auto repeats = std::max(1, std::atoi(text_of(one, "repeat").c_str()));
      for (int i = 0; i < repeats; ++i)
        answer = ask(text_of(one, "method"), path_for(text_of(one, "token")),
                     text_of(one, "content_type"), body);
      BOOST_TEST(answer.status == std::stoi(text_of(one, "status")), answer.body);
      BOOST_TEST(is_unsubscribed() == (text_of(one, "unsubscribed") == "true"));
      BOOST_TEST(header(answer, "Set-Cookie") == "");
      BOOST_TEST(header(answer, "Location") == "");
      forget();
    }
  }
  BOOST_TEST(cases == 20);
}

BOOST_AUTO_TEST_CASE(other_methods_are_refused_with_those_that_are_not) {
  BOOST_TEST(header(ask("PUT", good_path()), "Allow") == "GET, POST, OPTIONS, HEAD");
  const auto options_answer = ask("OPTIONS", good_path());
  BOOST_TEST(header(options_answer, "Allow") == "GET, HEAD, POST, OPTIONS");
  BOOST_TEST(options_answer.body.empty());
}

BOOST_AUTO_TEST_CASE(looking_changes_nothing_however_often_and_clicking_counts_once) {
  for (const auto* method : {"GET", "HEAD", "GET"})
    BOOST_TEST(ask(method, good_path()).status == 200);
  BOOST_TEST(count("unsubscribes") == 0);
  BOOST_TEST(count("suppressions") == 0);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(click(good_path()).status == 200);
  BOOST_TEST(count("unsubscribes") == 1);
  BOOST_TEST(log_lines("a recipient has unsubscribed").size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_token_and_no_address_gets_into_the_log) {
  click(good_path());
  click(path_for("tampered"));
  const auto token = good_path().substr(good_path().rfind('/') + 1);
  BOOST_TEST(log_lines(token.substr(0, 20)).empty());
  BOOST_TEST(log_lines(address).empty());
}

BOOST_AUTO_TEST_CASE(every_cut_and_every_changed_character_makes_the_link_worthless) {
  const auto good = good_path();
  const auto begin = good.rfind('/') + 1;
  for (std::size_t i = begin; i < good.size(); ++i) {
    auto changed = good;
    changed[i] = changed[i] == 'x' ? 'y' : 'x';
    BOOST_TEST(click(changed).status == 404, changed);
    if (i > begin)
      BOOST_TEST(click(good.substr(0, i)).status == 404);
  }
  BOOST_TEST(click(good + "A").status == 404);
  BOOST_TEST(count("unsubscribes") == 0);
}

BOOST_AUTO_TEST_CASE(without_links_there_is_nothing_to_unsubscribe_with) {
  const auto target = good_path();
  options.links = nullptr;
  restart();
  for (const auto* method : {"GET", "POST"})
    BOOST_TEST(ask(method, target).status == 404);
}

BOOST_AUTO_TEST_CASE(without_the_database_the_click_can_be_repeated_and_the_page_is_there) {
  const auto target = good_path();
  restart("host=/nowhere dbname=none connect_timeout=1");
  BOOST_TEST(ask("GET", target).status == 200);
  const auto answer = click(target);
  BOOST_TEST(answer.status == 503);
  BOOST_TEST(header(answer, "Retry-After") != "");
  BOOST_TEST(answer.content_type == "text/html; charset=utf-8");
}

BOOST_AUTO_TEST_SUITE_END()
