#include <boost/test/unit_test.hpp>

#include "test/unit/outgoing_support.hpp"

using namespace paceline;
using namespace paceline::outgoing_test;

namespace {

/// What a client gets from a server that reads one request and then does this.
http_result after_request(const std::function<void(server_connection&)>& then,
                          const std::function<void(engine_options&)>& change = {}) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  request_ledger ledger;
  scripted_server server(
      [&](server_connection& client) {
        if (auto request = client.read_request()) {
          ledger.add(*request);
          then(client);
        }
      },
      &proof);
  auto options = local_options(&trusted);
  if (change)
    change(options);
  client_stage stage(options);
  auto result = stage.post(server.url(), "once");
  BOOST_TEST(ledger.all().size() == 1u);
  return result;
}

http_result after_answer(const std::string& octets) {
  return after_request([octets](server_connection& client) { client.write(octets); });
}

/// Repeats the octets until the client has had enough.
auto endlessly(const std::string& start, const std::string& more) {
  return [start, more](server_connection& client) {
    client.write(start);
    while (client.write(more))
      ;
  };
}

std::string many_headers(int count, const std::string& value) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
  for (int i = 1; i < count; ++i)
    head += "X-" + std::to_string(i) + ": " + value + "\r\n";
  return head + "\r\n";
}

/// How a server ends a reused connection once it has read a request.
using ending = void (*)(server_connection&);

/// Many messages through a server that answers the first request of each connection, and reads the
/// second and ends: the case in which libcurl silently writes a request once more.
void check_nothing_twice(ending end, bool tls) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  request_ledger ledger;
  scripted_server server(
      [&ledger, end](server_connection& client) {
        for (bool is_first = true; auto request = client.read_request(); is_first = false) {
          ledger.add(body_of(*request));
          if (!is_first)
            return end(client);
          client.write(ok());
        }
      },
      tls ? &proof : nullptr);
  auto options = local_options(&trusted);
  options.http2 = false;
  client_stage stage(options);
  int lost = 0, asked = 0;
  for (int i = 0; i < 40; ++i) {
    outgoing_request what;
    what.url = server.url();
    what.body = "message " + std::to_string(i);
    auto end_of = stage.ask(what, [&asked] { return ++asked > 0; }).end;
    BOOST_TEST((end_of == transfer_end::answered || end_of == transfer_end::lost));
    lost += end_of == transfer_end::lost;
    BOOST_TEST(ledger.count(what.body) == 1, what.body << " was read more than once");
  }
  BOOST_TEST(lost == 20);
  BOOST_TEST(asked == 40);
  BOOST_TEST(ledger.all().size() == 40u);
}

} // namespace

BOOST_AUTO_TEST_SUITE(outgoing_faults)

BOOST_AUTO_TEST_CASE(no_message_is_read_twice_where_reused_connections_end_after_the_request) {
  for (bool tls : {false, true})
    check_nothing_twice([](server_connection&) {}, tls);
}

BOOST_AUTO_TEST_CASE(no_message_is_read_twice_where_reused_connections_are_reset) {
  for (bool tls : {false, true})
    check_nothing_twice([](server_connection& client) { client.cut(); }, tls);
}

BOOST_AUTO_TEST_CASE(a_connection_that_ended_while_idle_is_replaced_before_anything_is_written) {
  request_ledger ledger;
  scripted_server server([&ledger](server_connection& client) {
    if (auto request = client.read_request())
      ledger.add(body_of(*request));
    client.write(ok());
  });
  client_stage stage(local_options());
  for (int i = 0; i < 10; ++i) {
    auto result = stage.post(server.url(), std::to_string(i));
    BOOST_TEST((result.end == transfer_end::answered || result.end == transfer_end::lost));
    BOOST_TEST(ledger.count(std::to_string(i)) <= 1);
  }
}

BOOST_AUTO_TEST_CASE(nobody_there_means_not_written) {
  int free_port = 0;
  {
    scripted_server gone([](server_connection&) {});
    free_port = gone.port();
  }
  client_stage stage(local_options());
  for (std::string scheme : {"http", "https"}) {
    auto result = stage.post(scheme + "://localhost:" + std::to_string(free_port));
    BOOST_TEST(result.end == transfer_end::not_written);
    BOOST_TEST(!result.bad_certificate);
    BOOST_TEST(!result.diagnostic.empty());
  }
  auto unknown = stage.post("https://nobody.invalid/");
  BOOST_TEST(unknown.end == transfer_end::not_written);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_silent_before_the_request_means_not_written) {
  scripted_server server([](server_connection& client) { client.wait_for_end(); });
  auto options = local_options();
  options.connect_timeout = 200ms;
  client_stage stage(options);
  // It never answers the handshake.
  auto result = stage.post("https://localhost:" + std::to_string(server.port()));
  BOOST_TEST(result.end == transfer_end::not_written);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_gone_before_the_request_means_not_written) {
  scripted_server server([](server_connection&) {});
  client_stage stage(local_options());
  auto result = stage.post("https://localhost:" + std::to_string(server.port()));
  BOOST_TEST(result.end == transfer_end::not_written);
}

BOOST_AUTO_TEST_CASE(many_requests_to_a_dead_host_all_end_as_not_written) {
  scripted_server server([](server_connection& client) { client.wait_for_end(); });
  auto options = local_options();
  options.connect_timeout = 200ms;
  client_stage stage(options);
  int ended = 0;
  for (int i = 0; i < 100; ++i) {
    outgoing_request what;
    what.url = "https://localhost:" + std::to_string(server.port());
    stage.client.send(
        what, [] { return true; },
        [&ended](const http_result& result) { ended += result.end == transfer_end::not_written; });
  }
  BOOST_TEST(stage.run_until([&ended] { return ended == 100; }));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_silent_after_the_request_means_timed_out) {
  auto result = after_request([](server_connection& client) { client.wait_for_end(); },
                              [](engine_options& options) { options.total_timeout = 300ms; });
  BOOST_TEST(result.end == transfer_end::timed_out);
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_in_small_pieces_is_whole_in_the_end) {
  auto result = after_request([](server_connection& client) {
    for (char c : ok(std::string(200, 'y')))
      client.write({&c, 1});
  });
  BOOST_TEST(result.end == transfer_end::answered);
  BOOST_TEST(result.body == std::string(200, 'y'));
}

BOOST_AUTO_TEST_CASE(an_answer_that_never_ends_in_time_means_timed_out) {
  auto result = after_request(
      [](server_connection& client) {
        client.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
        client.wait_for_end();
      },
      [](engine_options& options) { options.total_timeout = 300ms; });
  BOOST_TEST(result.end == transfer_end::timed_out);
}

BOOST_AUTO_TEST_CASE(answers_that_are_cut_are_lost) {
  for (std::string octets :
       {"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n", "garbage\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    auto result = after_answer(octets);
    BOOST_TEST(result.end == transfer_end::lost, octets);
    BOOST_TEST(result.status == 0);
    BOOST_TEST(!result.diagnostic.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_body_without_a_length_ends_with_its_connection) {
  auto result = after_answer("HTTP/1.1 422 Unprocessable\r\n\r\nall of it");
  BOOST_TEST(result.end == transfer_end::answered);
  BOOST_TEST(result.status == 422);
  BOOST_TEST(result.body == "all of it");
}

BOOST_AUTO_TEST_CASE(a_reset_after_the_request_is_lost) {
  auto result = after_request([](server_connection& client) { client.cut(); });
  BOOST_TEST(result.end == transfer_end::lost);
}

BOOST_AUTO_TEST_CASE(chunks_and_interim_answers_come_to_one_answer) {
  auto result = after_answer("HTTP/1.1 103 Early Hints\r\nX-A: early\r\n\r\n"
                             "HTTP/1.1 200 OK\r\nX-A: late\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
  BOOST_TEST(result.end == transfer_end::answered);
  BOOST_TEST(result.body == "abc");
  BOOST_TEST(result.header("x-a").value_or("") == "late");
}

BOOST_AUTO_TEST_CASE(bodies_have_a_bound) {
  auto size = [](std::size_t octets) { return after_answer(ok(std::string(octets, 'z'))); };
  auto largest = size(http_client::max_answer);
  BOOST_TEST(largest.end == transfer_end::answered);
  BOOST_TEST(largest.body.size() == http_client::max_answer);
  BOOST_TEST(size(http_client::max_answer + 1).end == transfer_end::too_large);
  std::string piece(16384, 'z');
  auto endless = after_request(endlessly("HTTP/1.1 200 OK\r\n\r\n", piece));
  BOOST_TEST(endless.end == transfer_end::too_large);
  auto chunked = after_request(endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                         "4000\r\n" + piece + "\r\n"));
  BOOST_TEST(chunked.end == transfer_end::too_large);
}

BOOST_AUTO_TEST_CASE(headers_have_a_bound) {
  BOOST_TEST(after_answer(many_headers(100, "v")).headers.size() == 100u);
  BOOST_TEST(after_answer(many_headers(101, "v")).end == transfer_end::too_large);
  BOOST_TEST(after_answer(many_headers(1000, "v")).end == transfer_end::too_large);
  BOOST_TEST(after_answer(many_headers(40, std::string(700, 'v'))).end == transfer_end::answered);
  BOOST_TEST(after_answer(many_headers(40, std::string(900, 'v'))).end == transfer_end::too_large);
}

BOOST_AUTO_TEST_CASE(headers_that_never_end_are_too_large) {
  auto lines = after_request(endlessly("HTTP/1.1 200 OK\r\n", "X-More: and more\r\n"));
  BOOST_TEST(lines.end == transfer_end::too_large);
  auto interim = after_request(endlessly("", "HTTP/1.1 103 Early Hints\r\n\r\n"));
  BOOST_TEST(interim.end == transfer_end::too_large);
  auto one_line = after_request(endlessly("HTTP/1.1 200 OK\r\nX-Long: ", std::string(4096, 'l')));
  BOOST_TEST(one_line.end == transfer_end::too_large, one_line.diagnostic);
}

BOOST_AUTO_TEST_SUITE_END()
