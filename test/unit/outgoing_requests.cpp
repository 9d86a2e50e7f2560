#include <boost/test/unit_test.hpp>

#include <atomic>
#include <condition_variable>

#include "test/unit/outgoing_support.hpp"

using namespace paceline;
using namespace paceline::outgoing_test;

namespace {

/// Lets a number of connections through together, so that they exist at the same time.
class meeting {
public:
  explicit meeting(int size) : missing_(size) {}
  void arrive() {
    std::unique_lock lock(mutex_);
    if (--missing_ <= 0)
      complete_.notify_all();
    complete_.wait_for(lock, 20s, [this] { return missing_ <= 0; });
  }

private:
  std::mutex mutex_;
  std::condition_variable complete_;
  int missing_;
};

bool has_header(const std::string& request, const std::string& line) {
  return request.find("\r\n" + line + "\r\n") != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(outgoing_requests)

BOOST_AUTO_TEST_CASE(a_request_arrives_as_it_was_given) {
  request_ledger ledger;
  scripted_server server([&ledger](server_connection& client) {
    ledger.add(client.read_request().value_or(""));
    client.write("HTTP/1.1 201 Created\r\nX-Id: 7\r\nx-id: 8\r\nEmpty:\r\n"
                 "Content-Length: 4\r\n\r\nbody");
  });
  client_stage stage(local_options());
  outgoing_request what;
  what.method = "PUT";
  what.url = server.url("/v2/email?x=%20y");
  what.headers = {"X-Empty:", "Content-Type: application/json", "X-Name: some value"};
  what.body = std::string("{\"a\":1}\0b", 9);
  auto result = stage.ask(what);
  auto seen = ledger.all().at(0);
  BOOST_TEST(seen.starts_with("PUT /v2/email?x=%20y HTTP/1.1\r\n"), seen);
  for (std::string line :
       {"X-Empty:", "Content-Type: application/json", "X-Name: some value", "Content-Length: 9"})
    BOOST_TEST(has_header(seen, line), seen);
  BOOST_TEST((body_of(seen) == what.body));
  BOOST_TEST(result.end == transfer_end::answered);
  BOOST_TEST(result.status == 201);
  BOOST_TEST(result.body == "body");
  BOOST_TEST(result.header("X-ID").value_or("none") == "7");
  BOOST_TEST(result.header("empty").value_or("none") == "");
  BOOST_TEST(!result.header("absent").has_value());
}

BOOST_AUTO_TEST_CASE(nothing_is_added_that_changes_what_a_server_does) {
  request_ledger ledger;
  scripted_server server([&ledger](server_connection& client) {
    while (auto request = client.read_request()) {
      ledger.add(*request);
      client.write(ok());
    }
  });
  client_stage stage(local_options());
  BOOST_TEST(stage.post(server.url(), std::string(3 << 20, 'x')).status == 200);
  outgoing_request get;
  get.method = "GET";
  get.url = server.url();
  BOOST_TEST(stage.ask(get).status == 200);
  for (const auto& request : ledger.all())
    for (std::string name : {"Expect", "Accept-Encoding", "Content-Type", "Cookie", "Authorization",
                             "Upgrade", "User-Agent", "Transfer-Encoding"})
      BOOST_TEST(request.find("\r\n" + name + ":") == std::string::npos, name);
  BOOST_TEST(ledger.all().at(1).starts_with("GET / HTTP/1.1\r\n"));
  BOOST_TEST(server.accepted() == 1);
}

BOOST_AUTO_TEST_CASE(line_breaks_in_a_request_are_refused_with_the_field_named) {
  request_ledger ledger;
  scripted_server server(answering(ledger));
  client_stage stage(local_options());
  outgoing_request good;
  good.url = server.url();
  auto why = [&stage, &good](auto spoil) {
    auto what = good;
    spoil(what);
    auto result = stage.ask(what);
    BOOST_TEST(result.end == transfer_end::not_written);
    return result.diagnostic.substr(0, result.diagnostic.find(':'));
  };
  using request = outgoing_request;
  BOOST_TEST(why([](request& r) { r.headers = {"A: b\r\nBcc: c"}; }) == "headers");
  BOOST_TEST(why([](request& r) { r.headers = {"A: b\nBcc: c"}; }) == "headers");
  BOOST_TEST(why([](request& r) { r.headers = {std::string("A: b\0c", 6)}; }) == "headers");
  BOOST_TEST(why([](request& r) { r.headers = {"no colon"}; }) == "headers");
  BOOST_TEST(why([](request& r) { r.headers = {"a name: b"}; }) == "headers");
  BOOST_TEST(why([](request& r) { r.headers = {": b"}; }) == "headers");
  BOOST_TEST(why([](request& r) { r.method = "GET / HTTP/1.1\r\n"; }) == "method");
  BOOST_TEST(why([](request& r) { r.method = ""; }) == "method");
  BOOST_TEST(why([](request& r) { r.url += "\r\nA: b"; }) == "url");
  BOOST_TEST(server.accepted() == 0);
}

BOOST_AUTO_TEST_CASE(the_owner_is_asked_once_and_a_no_writes_nothing) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  request_ledger ledger;
  scripted_server server(answering(ledger), &proof);
  client_stage stage(local_options(&trusted));
  int asked = 0;
  auto ask = [&](const std::string& body, bool may) {
    outgoing_request what;
    what.url = server.url();
    what.body = body;
    return stage.ask(what, [&asked, may] {
      ++asked;
      return may;
    });
  };
  BOOST_TEST(ask("first", true).end == transfer_end::answered);
  BOOST_TEST(ask("second", false).end == transfer_end::refused);
  BOOST_TEST(ask("third", true).end == transfer_end::answered);
  BOOST_TEST(asked == 3);
  BOOST_TEST((ledger.all() == std::vector<std::string>{"first", "third"}));
}

BOOST_AUTO_TEST_CASE(connections_are_used_again) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  request_ledger ledger;
  scripted_server server(answering(ledger), &proof);
  client_stage stage(local_options(&trusted));
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(stage.post(server.url(), std::to_string(i)).end == transfer_end::answered);
  BOOST_TEST(ledger.all().size() == 20u);
  // The one that found out what the server speaks, and the one that carried the rest.
  BOOST_TEST(server.accepted() <= 2);
  BOOST_TEST(stage.client.engine().connections() == static_cast<std::size_t>(server.accepted()));
  BOOST_TEST(stage.client.engine().in_flight() == 0u);
}

BOOST_AUTO_TEST_CASE(connections_that_were_idle_for_too_long_are_not_used_again) {
  request_ledger ledger;
  scripted_server server(answering(ledger));
  auto options = local_options();
  options.idle_timeout = 1s;
  client_stage stage(options);
  BOOST_TEST(stage.post(server.url()).end == transfer_end::answered);
  bool is_later = false; // libcurl counts whole seconds
  stage.loop.at(stage.clock.now() + 2100ms, [&is_later] { is_later = true; });
  BOOST_TEST(stage.run_until([&is_later] { return is_later; }));
  BOOST_TEST(stage.post(server.url()).end == transfer_end::answered);
  BOOST_TEST(server.accepted() == 2);
}

BOOST_AUTO_TEST_CASE(requests_above_the_connections_wait_and_none_is_forgotten) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  request_ledger ledger;
  meeting four(4);
  scripted_server server(
      [&](server_connection& client) {
        while (auto request = client.read_request()) {
          four.arrive();
          ledger.add(body_of(*request));
          client.write(ok());
        }
      },
      &proof);
  auto options = local_options(&trusted);
  options.max_connections = 4;
  options.http2 = false;
  client_stage stage(options);
  int answered = 0;
  for (int i = 0; i < 100; ++i) {
    outgoing_request what;
    what.url = server.url();
    what.body = std::to_string(i);
    stage.client.send(
        what, [] { return true; },
        [&answered](const http_result& result) {
          answered += result.end == transfer_end::answered;
        });
  }
  BOOST_TEST(stage.client.engine().in_flight() == 100u);
  BOOST_TEST(stage.run_until([&answered] { return answered == 100; }));
  for (int i = 0; i < 100; ++i)
    BOOST_TEST(ledger.count(std::to_string(i)) == 1);
  BOOST_TEST(server.accepted() == 4);
}

BOOST_AUTO_TEST_CASE(a_server_that_speaks_http_1_only_gets_as_many_connections_as_it_may) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  request_ledger ledger;
  meeting thirty(30); // more than HTTP/2 would open
  scripted_server server(
      [&](server_connection& client) {
        while (auto request = client.read_request()) {
          thirty.arrive();
          client.write(ok());
        }
      },
      &proof);
  client_stage stage(local_options(&trusted));
  int answered = 0;
  for (int i = 0; i < 30; ++i) {
    outgoing_request what;
    what.url = server.url();
    stage.client.send(
        what, [] { return true; },
        [&answered](const http_result& result) {
          answered += result.end == transfer_end::answered;
        });
  }
  BOOST_TEST(stage.run_until([&answered] { return answered == 30; }));
  BOOST_TEST(server.accepted() >= 30);
}

BOOST_AUTO_TEST_CASE(warming_opens_connections_that_requests_then_use) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  request_ledger ledger;
  scripted_server server(
      [&ledger](server_connection& client) {
        while (auto request = client.read_request()) {
          ledger.add(request->substr(0, request->find(' ')));
          client.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
      },
      &proof);
  client_stage stage(local_options(&trusted));
  stage.client.keep_free(server.url(), 12);
  auto& engine = stage.client.engine();
  BOOST_TEST(
      stage.run_until([&] { return engine.connections() == 12 && engine.in_flight() == 0; }));
  BOOST_TEST(ledger.count("HEAD") == 12);
  stage.client.keep_free(server.url(), 12);
  BOOST_TEST(engine.in_flight() == 0u);
  BOOST_TEST(stage.post(server.url()).status == 404);
  BOOST_TEST(server.accepted() == 12);
}

BOOST_AUTO_TEST_CASE(a_request_never_waits_for_a_connection_when_it_asks_before) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  std::atomic<int> posts{0};
  scripted_server server(
      [&posts](server_connection& client) {
        while (auto request = client.read_request()) {
          posts += request->starts_with("POST") ? 1 : 0;
          client.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
      },
      &proof);
  client_stage stage(local_options(&trusted));
  BOOST_TEST(!stage.client.is_ready(server.url())); // and one is opened
  BOOST_TEST(stage.run_until([&] { return stage.client.is_ready(server.url()); }));
  const auto before = server.accepted();
  BOOST_TEST(stage.post(server.url()).status == 404);
  BOOST_TEST(posts == 1);
  BOOST_TEST(server.accepted() == before);
}

BOOST_AUTO_TEST_CASE(where_no_connection_can_be_opened_a_request_may_find_out_why) {
  client_stage stage(local_options());
  const std::string nobody = "http://127.0.0.1:1/"; // a reserved port: nobody listens
  BOOST_TEST(!stage.client.is_ready(nobody));
  BOOST_TEST(stage.run_until([&] { return stage.client.is_ready(nobody); }));
  BOOST_TEST((stage.post(nobody).end == transfer_end::not_written));
}

BOOST_AUTO_TEST_CASE(a_redirect_is_an_answer_and_is_not_followed) {
  request_ledger ledger;
  scripted_server elsewhere(answering(ledger));
  scripted_server server([&elsewhere](server_connection& client) {
    client.read_request();
    client.write("HTTP/1.1 307 Temporary Redirect\r\nLocation: " + elsewhere.url("/there")
                 + "\r\nContent-Length: 0\r\n\r\n");
  });
  client_stage stage(local_options());
  auto result = stage.post(server.url(), "secret");
  BOOST_TEST(result.status == 307);
  BOOST_TEST(result.header("location").value_or("") == elsewhere.url("/there"));
  BOOST_TEST(elsewhere.accepted() == 0);
}

BOOST_AUTO_TEST_CASE(ending_with_transfers_in_flight_tells_nobody) {
  request_ledger ledger;
  scripted_server server([&ledger](server_connection& client) {
    ledger.add(client.read_request().value_or(""));
    client.wait_for_end();
  });
  int told = 0;
  {
    client_stage stage(local_options());
    for (int i = 0; i < 5; ++i) {
      outgoing_request what;
      what.url = server.url();
      stage.client.send(
          what, [] { return true; }, [&told](const http_result&) { ++told; });
    }
    BOOST_TEST(stage.run_until([&ledger, &stage] {
      stage.loop.at(stage.clock.now() + 1ms, [] {}); // another thread fills it
      return ledger.all().size() == 5;
    }));
  }
  BOOST_TEST(told == 0);
}

BOOST_AUTO_TEST_CASE(an_answer_may_start_the_next_request) {
  request_ledger ledger;
  scripted_server server(answering(ledger));
  client_stage stage(local_options());
  int answered = 0;
  std::function<void()> next = [&] {
    outgoing_request what;
    what.url = server.url();
    stage.client.send(
        what, [] { return true; },
        [&](const http_result& result) {
          answered += result.end == transfer_end::answered;
          if (answered < 10)
            next();
        });
  };
  next();
  BOOST_TEST(stage.run_until([&answered] { return answered == 10; }));
  BOOST_TEST(server.accepted() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
