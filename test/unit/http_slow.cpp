#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "test/support/waiting.hpp"
#include "test/unit/http_support.hpp"

using namespace paceline;
using namespace paceline::http_test;
using paceline::test::eventually;

namespace {

/// A client on a thread of its own that sends a byte now and then until the server closes.
class dribbler {
public:
  dribbler(int port, std::string start, char byte)
      : client_(port), thread_([this, start = std::move(start), byte] {
          client_.send(start);
          while (!ends_.load() && client_.send({&byte, 1}))
            test::hold_fault_for(5ms);
          was_cut_.store(!ends_.load());
        }) {}
  ~dribbler() {
    ends_.store(true);
    thread_.join();
  }

  bool is_cut() {
    return eventually([this] { return was_cut_.load(); });
  }
  raw_client& client() { return client_; }

private:
  std::atomic<bool> ends_{false}, was_cut_{false};
  raw_client client_;
  std::thread thread_;
};

const std::string slow_head = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
const std::string slow_body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n";
const std::string slow_chunks =
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;";

/// One thread, and every time limit an hour except the one that `change` sets.
auto patient(std::function<void(listener_options&)> change = {}) {
  return [change = std::move(change)](listener_options& options) {
    options.threads = 1;
    options.header_timeout = options.body_timeout = options.write_timeout = options.idle_timeout =
        std::chrono::hours(1);
    if (change)
      change(options);
  };
}

} // namespace

BOOST_AUTO_TEST_SUITE(http_slow)

BOOST_AUTO_TEST_CASE(a_head_that_dribbles_is_told_of_the_time_limit_and_cut) {
  served node(patient([](listener_options& options) { options.header_timeout = 200ms; }));
  dribbler slow(node.port(), slow_head, 'x');
  auto told = slow.client().read();
  BOOST_TEST(told.status == 408);
  BOOST_TEST(told.header("Connection") == "close");
  BOOST_TEST(slow.is_cut());
  BOOST_TEST(node.server->counts().timed_out == 1);
}

BOOST_AUTO_TEST_CASE(a_body_that_dribbles_is_told_of_the_time_limit_and_gives_its_memory_back) {
  served node(patient([](listener_options& options) { options.body_timeout = 200ms; }));
  for (const auto& start : {slow_body, slow_chunks}) {
    dribbler slow(node.port(), start, 'x');
    BOOST_TEST(slow.client().read().status == 408);
    BOOST_TEST(slow.is_cut());
  }
  BOOST_TEST(node.budget.left() == 64 << 20);
  BOOST_TEST(node.serves());
}

BOOST_AUTO_TEST_CASE(a_head_has_the_time_limit_of_a_head_and_the_body_its_own) {
  served node(patient([](listener_options& options) { options.header_timeout = 100ms; }));
  raw_client client(node.port());
  client.send(slow_body.substr(0, slow_body.size()));
  test::hold_fault_for(300ms);
  client.send(std::string(90'000, 'x'));
  BOOST_TEST(client.read().status == 200);
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_read_its_answer_is_cut) {
  served node(patient([](listener_options& options) { options.write_timeout = 200ms; }),
              [](const http_request& request) {
                auto size = request.path == "/large" ? 50u << 20 : 1u;
                return http_response{200, "text/plain", std::string(size, 'x'), {}};
              });
  constexpr int little = 4096;
  raw_client deaf(node.port(), little);
  deaf.send(get("/large"));
  BOOST_TEST(eventually([&node] { return node.server->counts().timed_out == 1; }));
  BOOST_TEST(eventually([&node] { return node.server->counts().connections == 0; }));
  BOOST_TEST(node.ask(get("/small")).status == 200);
}

BOOST_AUTO_TEST_CASE(a_connection_without_requests_is_closed_in_time) {
  served node(patient([](listener_options& options) { options.idle_timeout = 200ms; }));
  raw_client silent(node.port()), served_once(node.port());
  BOOST_TEST(served_once.ask(get("/")).status == 200);
  BOOST_TEST(silent.sees_end());
  BOOST_TEST(served_once.sees_end());
  BOOST_TEST(node.server->counts().timed_out == 0);
}

BOOST_AUTO_TEST_CASE(one_thread_serves_a_normal_client_among_hundreds_that_hold_their_connections) {
  served node(patient(), [](const http_request& request) {
    auto size = request.path == "/large" ? 5u << 20 : 1u;
    return http_response{200, "text/plain", std::string(size, 'x'), {}};
  });
  constexpr int little = 4096, each = 60;
  std::vector<raw_client> holders;
  for (int i = 0; i < each; ++i) {
    holders.emplace_back(node.port());               // says nothing
    holders.emplace_back(node.port()).ask(get("/")); // keeps its connection
    holders.emplace_back(node.port()).send(slow_head);
    holders.emplace_back(node.port()).send(slow_body + "x");
    holders.emplace_back(node.port(), little).send(get("/large")); // does not read
  }
  raw_client normal(node.port());
  for (int i = 0; i < 100; ++i)
    BOOST_TEST(normal.ask(post("12345")).status == 200);
  BOOST_TEST(node.server->counts().connections == 5 * each + 1);
}

BOOST_AUTO_TEST_CASE(a_normal_client_is_served_while_others_dribble_all_the_time) {
  served node(patient());
  std::vector<std::unique_ptr<dribbler>> slow;
  for (int i = 0; i < 8; ++i)
    for (const auto& start : {slow_head, slow_body, slow_chunks})
      slow.push_back(std::make_unique<dribbler>(node.port(), start, 'x'));
  raw_client normal(node.port());
  for (int i = 0; i < 100; ++i)
    BOOST_TEST(normal.ask(get("/")).status == 200);
}

BOOST_AUTO_TEST_SUITE_END()
