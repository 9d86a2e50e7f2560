#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "test/support/waiting.hpp"
#include "test/unit/http_support.hpp"
#include "transport/http/listening_socket.hpp"

using namespace paceline;
using namespace paceline::http_test;
using paceline::test::eventually;

namespace {

std::ptrdiff_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}
std::ptrdiff_t threads_of_this_process() {
  return entries("/proc/self/task");
}
std::ptrdiff_t descriptors_of_this_process() {
  return entries("/proc/self/fd");
}

/// A handler that holds its requests until it is opened.
class gate {
public:
  ~gate() { open(); }
  http_server::handler handler() {
    return [this](const http_request& request) {
      if (request.path != "/alive") {
        std::unique_lock lock(mutex_);
        ++waiting_;
        opened_.wait(lock, [this] { return is_open_; });
        --waiting_;
      }
      return http_response{200, "text/plain", "through", {}};
    };
  }
  bool holds(int requests) {
    return eventually([this, requests] {
      std::lock_guard lock(mutex_);
      return waiting_ == requests;
    });
  }
  void open() {
    std::lock_guard lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable opened_;
  int waiting_ = 0;
  bool is_open_ = false;
};

/// Lowers the number of descriptors this process may have to those it has.
class no_more_descriptors {
public:
  no_more_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto next = ::dup(0);
    auto now = before_;
    now.rlim_cur = static_cast<rlim_t>(next);
    ::close(next);
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~no_more_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
  rlimit before_{};
};

} // namespace

BOOST_AUTO_TEST_SUITE(http_lifecycle)

BOOST_AUTO_TEST_CASE(threads_are_started_up_to_the_bound_and_further_requests_wait) {
  gate held;
  served node({}, held.handler());
  std::vector<raw_client> clients;
  for (int i = 0; i < 10; ++i)
    clients.emplace_back(node.port()).send(get("/"));
  BOOST_TEST(held.holds(4));
  BOOST_TEST(node.server->counts().busy_threads == 4);
  held.open();
  for (auto& each : clients)
    BOOST_TEST(each.read().status == 200);
}

BOOST_AUTO_TEST_CASE(a_handler_that_takes_long_keeps_nobody_else_waiting) {
  gate held;
  served node({}, held.handler());
  raw_client slow(node.port());
  slow.send(get("/"));
  BOOST_TEST(held.holds(1));
  BOOST_TEST(node.serves());
  held.open();
}

BOOST_AUTO_TEST_CASE(idle_threads_end_but_one_stays_for_the_next_request) {
  gate held;
  auto before = threads_of_this_process();
  served node([](listener_options& options) { options.thread_idle = 20ms; }, held.handler());
  std::vector<raw_client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(node.port()).send(get("/"));
    BOOST_TEST(held.holds(i + 1));
  }
  BOOST_TEST(node.serves());
  // The fourth thread has nothing to do for many times as long as it takes to end.
  test::hold_fault_for(300ms);
  BOOST_TEST(node.serves());
  held.open();
  for (auto& each : clients)
    BOOST_TEST(each.read().status == 200);
  // The listener's own one, and one that waits.
  BOOST_TEST(eventually([before] { return threads_of_this_process() == before + 2; }));
}

BOOST_AUTO_TEST_CASE(a_connection_too_many_is_told_so_and_closed) {
  served node([](listener_options& options) { options.max_connections = 20; });
  std::vector<raw_client> clients;
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(clients.emplace_back(node.port()).ask(get("/")).status == 200);
  std::vector<raw_client> refused;
  for (int i = 0; i < 200; ++i)
    refused.emplace_back(node.port());
  auto told = refused.front().read();
  BOOST_TEST(told.status == 503);
  BOOST_TEST(told.header("Retry-After") == "1");
  BOOST_TEST(told.header("X-Request-Id") != "");
  for (auto& each : refused)
    BOOST_TEST(each.sees_end());
  BOOST_TEST(node.server->counts().refused_connections == 200);
  for (auto& each : clients)
    BOOST_TEST(each.ask(get("/")).status == 200);
  clients.pop_back();
  refused.clear();
  BOOST_TEST(eventually([&node] { return node.serves(); }));
}

BOOST_AUTO_TEST_CASE(without_descriptors_clients_wait_and_are_served_afterwards) {
  served node;
  std::vector<int> reserve;
  for (int i = 0; i < 3; ++i)
    reserve.push_back(::dup(0));
  std::vector<raw_client> clients;
  {
    no_more_descriptors none;
    for (int each : reserve) {
      ::close(each);
      clients.emplace_back(node.port()).send(get("/"));
      // Whichever of the two got the descriptor, the other has none.
      if (!node.log.lines("HTTP_ACCEPT_PAUSED").empty())
        break;
    }
    BOOST_TEST(eventually([&node] { return !node.log.lines("HTTP_ACCEPT_PAUSED").empty(); }));
    test::hold_fault_for(500ms);
    BOOST_TEST(node.log.lines("HTTP_ACCEPT_PAUSED").size() < 20u);
  }
  for (auto& each : clients)
    BOOST_TEST(each.read().status == 200);
}

BOOST_AUTO_TEST_CASE(the_kernel_keeps_a_thousand_connections_for_us_while_we_are_busy) {
  std::ifstream setting("/proc/sys/net/core/somaxconn");
  int most = 0;
  BOOST_REQUIRE(setting >> most);
  auto listening = listen_on("127.0.0.1:0");
  BOOST_REQUIRE(listening);
  // Of a listening socket the kernel tells its backlog in this field.
  tcp_info seen{};
  socklen_t size = sizeof seen;
  BOOST_REQUIRE(::getsockopt(listening->number(), IPPROTO_TCP, TCP_INFO, &seen, &size) == 0);
  BOOST_TEST(seen.tcpi_sacked == static_cast<unsigned>(std::min(most, 1024)));
}

BOOST_AUTO_TEST_CASE(hundreds_of_clients_connect_at_once) {
  served node;
  std::vector<raw_client> clients;
  for (int i = 0; i < 300; ++i)
    clients.emplace_back(node.port()).send(get("/"));
  for (auto& each : clients)
    BOOST_TEST(each.read().status == 200);
}

BOOST_AUTO_TEST_CASE(a_port_in_use_and_a_bad_address_are_clear_errors) {
  served node;
  listener_options options;
  auto why = [&options, &node](const std::string& address) {
    options.address = address;
    auto started = http_server::start(options, node.budget, node.log.log, describe);
    return started ? std::string("started") : started.failure().text;
  };
  auto taken = "127.0.0.1:" + std::to_string(node.port());
  BOOST_TEST(why(taken) == "can't listen on " + taken + ": another process listens there");
  for (std::string bad : {"", "127.0.0.1", ":80", "127.0.0.1:", "::1:80", "127.0.0.1:http",
                          "no such host:1", "192.0.2.1:0"})
    BOOST_TEST(why(bad).starts_with("can't listen on " + bad + ": "), why(bad));
}

BOOST_AUTO_TEST_CASE(a_port_can_be_used_again_at_once) {
  int port = 0;
  {
    served node;
    port = node.port();
    raw_client client(port);
    BOOST_TEST(client.ask(get("/")).status == 200);
  }
  served again(
      [port](listener_options& options) { options.address = "127.0.0.1:" + std::to_string(port); });
  BOOST_TEST(again.serves());
}

BOOST_AUTO_TEST_CASE(stopping_takes_no_notice_of_clients_that_hang_dribble_or_do_not_read) {
  served node({}, [](const http_request& request) {
    auto size = request.path == "/large" ? 50u << 20 : 1u;
    return http_response{200, "text/plain", std::string(size, 'x'), {}};
  });
  constexpr int little = 4096;
  raw_client silent(node.port()), idle(node.port()), deaf(node.port(), little);
  raw_client slow(node.port()), slow_body(node.port());
  idle.ask(get("/"));
  deaf.send(get("/large"));
  BOOST_TEST(deaf.read(false).status == 200);
  slow.send("GET / HT");
  slow_body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx");
  BOOST_TEST(eventually([&node] { return node.server->counts().connections == 5; }));
  auto before = std::chrono::steady_clock::now();
  node.server->stop();
  // What the header promises.
  BOOST_TEST((std::chrono::steady_clock::now() - before < 2s));
  BOOST_TEST(node.server->counts().connections == 0);
  for (auto* each : {&silent, &idle, &deaf, &slow, &slow_body})
    BOOST_TEST(each->sees_end());
  BOOST_CHECK_THROW(raw_client{node.port()}, std::runtime_error);
  node.server->stop();
}

BOOST_AUTO_TEST_CASE(stopping_lets_requests_in_work_finish) {
  gate held;
  served node({}, held.handler());
  raw_client client(node.port());
  client.send(get("/"));
  BOOST_TEST(held.holds(1));
  std::thread stopper([&node] { node.server->stop(); });
  BOOST_TEST(eventually([&node] {
    try {
      raw_client late(node.port());
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  }));
  held.open();
  auto got = client.read();
  BOOST_TEST(got.body == "through");
  BOOST_TEST(got.header("Connection") == "close");
  stopper.join();
}

BOOST_AUTO_TEST_CASE(starting_and_stopping_leaves_no_thread_and_no_descriptor) {
  auto threads = threads_of_this_process();
  auto descriptors = descriptors_of_this_process();
  for (int i = 0; i < 100; ++i) {
    served node;
    raw_client client(node.port());
    if (i % 3 != 0)
      BOOST_TEST(client.ask(get("/")).status == 200);
  }
  BOOST_TEST(eventually([threads] { return threads_of_this_process() == threads; }));
  BOOST_TEST(descriptors_of_this_process() == descriptors);
}

BOOST_AUTO_TEST_SUITE_END()
