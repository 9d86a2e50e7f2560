#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <stdexcept>

#include "test/support/waiting.hpp"
#include "test/unit/http_support.hpp"

using namespace paceline;
using namespace paceline::http_test;

namespace {

/// What a handler got of one request, in words.
http_response echo_target(const http_request& request) {
  std::string text = request.path;
  for (const auto& [name, value] : request.query)
    text += "|" + name + "=" + value;
  return {200, "text/plain", text, {}};
}

} // namespace

BOOST_AUTO_TEST_SUITE(http_serving)

BOOST_AUTO_TEST_CASE(a_connection_serves_one_request_after_the_other) {
  served node;
  raw_client client(node.port());
  BOOST_TEST(client.ask(get("/one")).body == "GET /one 0");
  BOOST_TEST(client.ask(post("12345")).body == "POST /posted 5");
  BOOST_TEST(client.ask(get("/three")).body == "GET /three 0");
  BOOST_TEST(node.server->counts().requests == 3);
}

BOOST_AUTO_TEST_CASE(pipelined_requests_are_answered_in_their_order) {
  served node;
  raw_client client(node.port());
  std::string many;
  for (int i = 0; i < 50; ++i)
    many += i % 2 == 0 ? get("/" + std::to_string(i)) : post(std::string(100, 'x'));
  client.send(many);
  for (int i = 0; i < 50; ++i)
    BOOST_TEST(client.read().body
               == (i % 2 == 0 ? "GET /" + std::to_string(i) + " 0" : "POST /posted 100"));
}

BOOST_AUTO_TEST_CASE(a_request_may_arrive_byte_by_byte_and_chunked) {
  served node;
  raw_client client(node.port());
  std::string_view request = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "3\r\nabc\r\n2;extension=1\r\nde\r\n0\r\nTrailer: x\r\n\r\n";
  for (char byte : request)
    client.send({&byte, 1});
  BOOST_TEST(client.read().body == "POST /c 5");
  BOOST_TEST(client.ask(get("/next")).body == "GET /next 0");
}

BOOST_AUTO_TEST_CASE(head_is_answered_without_its_body) {
  served node;
  raw_client client(node.port());
  client.send("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n");
  auto head = client.read(false);
  BOOST_TEST(head.status == 200);
  BOOST_TEST(head.header("Content-Length") == std::to_string(std::string("HEAD /h 0").size()));
  BOOST_TEST(client.ask(get("/after")).body == "GET /after 0");
}

BOOST_AUTO_TEST_CASE(who_asks_before_sending_a_body_is_told_to_go_on) {
  served node;
  raw_client client(node.port());
  client.send("POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  BOOST_TEST(client.read(false).status == 100);
  BOOST_TEST(client.ask("body").body == "POST /e 4");
}

BOOST_AUTO_TEST_CASE(who_closes_its_side_after_the_request_still_gets_the_answer) {
  served node;
  raw_client client(node.port());
  client.send(post("abc"));
  client.end_writing();
  BOOST_TEST(client.read().body == "POST /posted 3");
  BOOST_TEST(client.sees_end());
}

BOOST_AUTO_TEST_CASE(a_client_that_wants_to_close_is_told_so_and_let_go) {
  served node;
  raw_client client(node.port());
  auto last = client.ask(get("/", "Connection: TE, Close\r\n"));
  BOOST_TEST(last.header("Connection") == "close");
  BOOST_TEST(client.sees_end());
  raw_client old(node.port());
  BOOST_TEST(old.ask("GET /old HTTP/1.0\r\n\r\n").status == 200);
  BOOST_TEST(old.sees_end());
}

BOOST_AUTO_TEST_CASE(path_and_query_are_decoded_once_and_go_nowhere_else) {
  served node({}, echo_target);
  BOOST_TEST(node.ask(get("/a%20b/%2e%2e/%252e?x=%41+b&y")).body == "/a b/../%2e|x=A b|y=");
  BOOST_TEST(node.ask(get("/../../etc/passwd")).body == "/../../etc/passwd");
  BOOST_TEST(node.ask("GET http://host:1/p?q=1 HTTP/1.1\r\nHost: host:1\r\n\r\n").body == "/p|q=1");
  for (std::string path : {"/%00", "/a%00b", "/%", "/%4", "/%zz", "/%u0041", "/?q=%00", "/\xc3\xa4",
                           "relative", "*", "/a#b"})
    BOOST_TEST(node.ask(get(path)).status == 400, "for " << path);
  BOOST_TEST(node.serves());
}

BOOST_AUTO_TEST_CASE(header_values_reach_the_handler_as_they_were_sent) {
  served node({}, [](const http_request& request) {
    return http_response{
        200, "text/plain", std::string(request.header("idempotency-key").value()), {}};
  });
  BOOST_TEST(node.ask(get("/", "Idempotency-Key: \t a%20b%0d c \r\n")).body == "a%20b%0d c");
}

BOOST_AUTO_TEST_CASE(a_handler_can_neither_add_headers_by_line_breaks_nor_be_compressed) {
  served node({}, [](const http_request&) {
    return http_response{200,
                         "application/json",
                         std::string(5000, ' '),
                         {{"X-Bad", "a\r\nX-Smuggled: 1"}, {"X-Good", "yes"}}};
  });
  auto got = node.ask(get("/", "Accept-Encoding: gzip, br\r\nRange: bytes=0-1\r\n"));
  BOOST_TEST(got.status == 200);
  BOOST_TEST(got.body.size() == 5000u);
  BOOST_TEST(got.header("X-Smuggled") == "");
  BOOST_TEST(got.header("X-Good") == "yes");
}

BOOST_AUTO_TEST_CASE(a_sane_request_id_is_kept_and_any_other_replaced_by_a_new_one) {
  served node({}, [](const http_request& request) {
    return http_response{200, "text/plain", request.id, {}};
  });
  auto kept = node.ask(get("/", "x-request-ID: Abc-1_2.3\r\n"));
  BOOST_TEST(kept.body == "Abc-1_2.3");
  BOOST_TEST(kept.header("X-Request-Id") == "Abc-1_2.3");
  std::string before;
  for (std::string bad :
       {std::string("a b"), std::string("a\"b"), std::string(65, 'a'), std::string()}) {
    auto made = node.ask(get("/", "X-Request-Id: " + bad + "\r\n")).body;
    BOOST_TEST(made != bad);
    BOOST_TEST(made.size() > 8u);
    BOOST_TEST(made != before);
    before = made;
  }
}

BOOST_AUTO_TEST_CASE(errors_of_the_server_itself_are_problems_with_a_request_id) {
  served node;
  auto made = node.ask("nonsense\r\n\r\n");
  BOOST_TEST(made.status == 400);
  BOOST_TEST(made.header("Content-Type") == "application/problem+json");
  BOOST_TEST(made.header("X-Request-Id") != "");
  BOOST_TEST(made.body.find("\"type\":\"malformed_request\"") != std::string::npos);
  auto kept = node.ask("POST / HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n"
                       "Content-Length: 999999999\r\n\r\n");
  BOOST_TEST(kept.status == 413);
  BOOST_TEST(kept.header("X-Request-Id") == "mine");
  BOOST_TEST(kept.body.find("\"request_id\":\"mine\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_is_a_500_with_the_id_and_a_log_line) {
  served node({}, [](const http_request& request) -> http_response {
    if (request.path == "/bad")
      throw std::runtime_error("the reason");
    if (request.path == "/odd")
      throw 7;
    return {};
  });
  raw_client client(node.port());
  auto failed = client.ask(get("/bad", "X-Request-Id: r-1\r\n"));
  BOOST_TEST(failed.status == 500);
  BOOST_TEST(failed.header("Content-Type") == "application/problem+json");
  BOOST_TEST(failed.body.find("r-1") != std::string::npos);
  BOOST_TEST(failed.body.find("the reason") == std::string::npos);
  BOOST_TEST(client.ask(get("/odd")).status == 500);
  BOOST_TEST(client.ask(get("/good")).status == 200);
  auto lines = node.log.lines("HTTP_HANDLER_FAILED");
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(lines[0].find("the reason") != std::string::npos);
  BOOST_TEST(lines[0].find("r-1") != std::string::npos);
  BOOST_TEST(node.log.lines("HTTP_REQUEST").size() == 2u);
}

BOOST_AUTO_TEST_CASE(each_request_is_one_debug_line_without_query_headers_and_body) {
  std::FILE* file = std::tmpfile();
  {
    logger log(log_level::debug, log_format::json, ::fileno(file));
    body_budget budget(1 << 20);
    listener_options options;
    options.name = "api";
    options.address = "127.0.0.1:0";
    auto server = http_server::start(options, budget, log, describe);
    BOOST_REQUIRE(server);
    raw_client client((*server)->port());
    client.ask("POST /path?query-secret=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n"
               "Authorization: header-secret\r\nX-Request-Id: r-2\r\n\r\nbody-secret");
    client.ask(get("/v1/suppressions/an-secret@b.de"));
    client.ask(get("/v1/suppressions/bn-secret%40b.de"));
    client.ask(get("/v1/suppressions/cn/secret" + std::string(300, 'x') + "@b.de"));
    client.ask(get("/v1/dn-secret@b.de"));
    (*server)->stop();
  }
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  BOOST_TEST(text.find("HTTP_REQUEST") != std::string::npos);
  for (std::string part : {"\"listener\":\"api\"", "\"request_id\":\"r-2\"", "\"method\":\"POST\"",
                           "\"path\":\"/path\"", "\"/v1/suppressions/a***@b.de\"",
                           "\"/v1/suppressions/b***@b.de\"", "\"/v1/suppressions/c***@b.de\"",
                           "\"/***@b.de\"", "\"status\":200", "\"peer\":\"127.0.0.1\""})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in " << text);
  BOOST_TEST(text.find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
