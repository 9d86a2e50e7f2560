#include <boost/test/unit_test.hpp>

#include <zlib.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "test/support/waiting.hpp"
#include "test/unit/http_support.hpp"

using namespace paceline;
using namespace paceline::http_test;
using paceline::test::eventually;

namespace {

constexpr std::size_t body_bound = 100'000;

void small_bodies(listener_options& options) {
  options.max_body = body_bound;
}

std::string head_with(const std::string& headers) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n";
}

std::string gzip(const std::string& text) {
  z_stream state{};
  BOOST_REQUIRE(deflateInit2(&state, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&state, text.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  BOOST_REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

/// What is answered to `request`, and whether the connection is closed after it.
std::pair<int, bool> fate(const served& node, const std::string& request) {
  raw_client client(node.port());
  auto status = client.ask(request).status;
  client.end_writing();
  return {status, client.sees_end()};
}

} // namespace

BOOST_AUTO_TEST_SUITE(http_bounds)

BOOST_AUTO_TEST_CASE(a_body_up_to_the_bound_is_served_and_one_byte_more_is_refused_unread) {
  served node(small_bodies);
  BOOST_TEST(node.ask(post(std::string(body_bound, 'x'))).status == 200);
  raw_client claims(node.port());
  auto refused =
      claims.ask(head_with("Content-Length: " + std::to_string(body_bound + 1) + "\r\n"));
  BOOST_TEST(refused.status == 413);
  BOOST_TEST(refused.header("Connection") == "close");
  BOOST_TEST(claims.sees_end());
  BOOST_TEST(node.server->counts().too_large == 1);
}

BOOST_AUTO_TEST_CASE(a_chunked_body_is_counted_while_it_arrives) {
  served node(small_bodies);
  raw_client client(node.port());
  client.send(head_with("Transfer-Encoding: chunked\r\n"));
  std::string chunk = "3e8\r\n" + std::string(1000, 'x') + "\r\n";
  for (int i = 0; i < 101; ++i)
    client.send(chunk);
  BOOST_TEST(client.read().status == 413);
  BOOST_TEST(fate(node, head_with("Transfer-Encoding: chunked\r\n") + "fffffffffffffff\r\n").first
             == 413);
  BOOST_TEST(
      fate(node, head_with("Transfer-Encoding: chunked\r\n") + "ffffffffffffffffff\r\n").first
      == 400);
  BOOST_TEST(node.serves());
}

BOOST_AUTO_TEST_CASE(a_compressed_body_is_unpacked_and_its_unpacked_size_counts) {
  served node(small_bodies);
  std::string header = "Content-Encoding: gzip\r\n";
  BOOST_TEST(node.ask(post(gzip(std::string(50'000, 'x')), header)).body == "POST /posted 50000");
  BOOST_TEST(node.ask(post(gzip(std::string(body_bound + 1, 'x')), header)).status == 413);
  BOOST_TEST(node.ask(post(gzip(std::string(50 << 20, 'x')), header)).status == 413);
  auto cut = gzip(std::string(50'000, 'x'));
  cut.pop_back();
  BOOST_TEST(node.ask(post(cut, header)).status == 400);
  BOOST_TEST(node.ask(post("no gzip", header)).status == 400);
  auto unknown = node.ask(post("x", "Content-Encoding: br\r\n"));
  BOOST_TEST(unknown.status == 415);
  BOOST_TEST(unknown.header("Accept-Encoding") == "gzip");
  BOOST_TEST(eventually([&node] { return node.budget.left() == 64 << 20; }));
}

BOOST_AUTO_TEST_CASE(requests_that_two_servers_could_cut_differently_are_refused_and_closed) {
  served node(small_bodies);
  auto nul = std::string("X: a") + '\0' + "b\r\n";
  for (const std::string& headers :
       std::vector<std::string>{"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
                                "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
                                "Content-Length: 3\r\nContent-Length: 4\r\n",
                                "Content-Length: 3, 4\r\n",
                                "Content-Length: 3\r\nContent-Length: 3\r\n",
                                "Content-Length: -1\r\n",
                                "Content-Length: +1\r\n",
                                "Content-Length: 0x10\r\n",
                                "Content-Length: \r\n",
                                "Content-Length: 3 3\r\n",
                                "Content-Length: 99999999999999999999999999\r\n",
                                "X: a\r\n folded\r\n",
                                "X: a\r\n\tfolded\r\n",
                                nul,
                                "X: a\rb\r\n",
                                "X: a\nY: b\r\n",
                                "X : a\r\n",
                                " X: a\r\n",
                                "X\r\n",
                                ": a\r\n",
                                "X: a\x7f\r\n",
                                "Host: b\r\n",
                                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"}) {
    auto [status, is_closed] = fate(node, head_with(headers) + "abcdefgh");
    BOOST_TEST(status == 400, "for " << headers);
    BOOST_TEST(is_closed, "for " << headers);
  }
  BOOST_TEST(fate(node, "GET / HTTP/1.1\r\n\r\n").first == 400);
  BOOST_TEST(fate(node, "\r\nGET / HTTP/1.1\r\n\r\n").first == 400);
  BOOST_TEST(fate(node, "GET /  HTTP/1.1\r\nHost: a\r\n\r\n").first == 400);
  BOOST_TEST(fate(node, "GET / HTTP/1.1\nHost: a\n\n").first == 400);
  BOOST_TEST(node.serves());
}

BOOST_AUTO_TEST_CASE(what_is_not_known_here_says_so) {
  served node;
  for (std::string coding : {"gzip", "chunked, gzip", "gzip, chunked", "xchunked", "identity"})
    BOOST_TEST(fate(node, head_with("Transfer-Encoding: " + coding + "\r\n")).first == 501);
  BOOST_TEST(fate(node, "BREW / HTTP/1.1\r\nHost: a\r\n\r\n").first == 501);
  BOOST_TEST(fate(node, "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n").first == 501);
  BOOST_TEST(fate(node, "GET / HTTP/2.0\r\nHost: a\r\n\r\n").first == 505);
  BOOST_TEST(fate(node, head_with("Expect: a-miracle\r\n")).first == 417);
}

BOOST_AUTO_TEST_CASE(broken_chunks_are_refused) {
  served node;
  for (std::string body : {"x\r\n", "-1\r\nabc", "\r\n", "3\nabc\r\n", "3\r\nabcd\r\n",
                           "3\r\nabc\n0\r\n\r\n", "0x3\r\nabc\r\n", "0\r\nTrailer: \ra\r\n\r\n"})
    BOOST_TEST(fate(node, head_with("Transfer-Encoding: chunked\r\n") + body).first == 400,
               "for " << body);
}

BOOST_AUTO_TEST_CASE(headers_are_counted_while_they_arrive) {
  served node([](listener_options& options) {
    options.max_headers = 10;
    options.max_header_bytes = 4096;
  });
  std::string nine;
  for (int i = 0; i < 9; ++i)
    nine += "X: y\r\n";
  BOOST_TEST(node.ask(head_with(nine)).status == 200);
  BOOST_TEST(node.ask(head_with(nine + "X: y\r\n")).status == 431);
  BOOST_TEST(node.ask("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(5000, 'a')).status == 431);
  BOOST_TEST(node.ask("GET /" + std::string(5000, 'a')).status == 414);
  BOOST_TEST(node.server->counts().too_large == 3);
}

BOOST_AUTO_TEST_CASE(lines_without_an_end_are_cut_at_the_bound) {
  served node;
  for (std::string start : {"GET /", "GET / HTTP/1.1\r\nHost: a\r\nX: ",
                            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;"}) {
    raw_client client(node.port());
    bool is_open = client.send(start);
    std::string more(1000, 'a');
    int sent = 0;
    for (; is_open && sent < 1'000'000; ++sent)
      is_open = client.send(more);
    BOOST_TEST(!is_open);
  }
  raw_client lines(node.port());
  bool is_open = lines.send("GET / HTTP/1.1\r\n");
  for (int i = 0; is_open && i < 10'000'000; ++i)
    is_open = lines.send("X: y\r\n");
  BOOST_TEST(!is_open);
  BOOST_TEST(node.serves());
}

BOOST_AUTO_TEST_CASE(bodies_share_a_budget_by_what_has_arrived_and_give_it_back) {
  served node({}, describe, 100'000);
  auto begin = [](std::size_t claimed, std::size_t sent) {
    return head_with("Content-Length: " + std::to_string(claimed) + "\r\n")
           + std::string(sent, 'x');
  };
  auto holds = [&node](std::int64_t bytes) {
    return eventually([&node, bytes] { return node.budget.left() == 100'000 - bytes; });
  };
  auto first = std::make_unique<raw_client>(node.port());
  first->send(begin(90'000, 60'000));
  BOOST_TEST(holds(60'000));
  raw_client claims_much(node.port());
  claims_much.send(begin(90'000, 1));
  BOOST_TEST(holds(60'001));
  auto refused = node.ask(begin(50'000, 50'000));
  BOOST_TEST(refused.status == 503);
  BOOST_TEST(refused.header("Retry-After") == "1");
  BOOST_TEST(holds(60'001));
  BOOST_TEST(node.ask(post(std::string(30'000, 'x'))).status == 200);
  first.reset(); // The client goes away.
  BOOST_TEST(holds(1));
  BOOST_TEST(node.ask(post(std::string(90'000, 'x'))).status == 200);
  BOOST_TEST(holds(1));
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_gives_its_body_back) {
  served node(
      {}, [](const http_request&) -> http_response { throw std::runtime_error("bad"); }, 1000);
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(node.ask(post(std::string(900, 'x'))).status == 500);
  BOOST_TEST(node.budget.left() == 1000);
}

BOOST_AUTO_TEST_CASE(all_listeners_take_from_one_budget) {
  served first({}, describe, 1000);
  listener_options options;
  options.name = "feedback";
  options.address = "127.0.0.1:0";
  auto second = http_server::start(options, first.budget, first.log.log, describe);
  BOOST_REQUIRE(second);
  raw_client holder(first.port());
  holder.send(head_with("Content-Length: 900\r\n") + std::string(800, 'x'));
  BOOST_TEST(eventually([&first] { return first.budget.left() == 200; }));
  raw_client other((*second)->port());
  BOOST_TEST(other.ask(post(std::string(300, 'x'))).status == 503);
}

BOOST_AUTO_TEST_SUITE_END()
