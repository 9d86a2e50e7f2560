/// How connections to an SMTP server come about, are protected, shared and given up.
#include <boost/test/unit_test.hpp>

#include "test/unit/smtp_support.hpp"

using namespace paceline;
using namespace paceline::smtp_test;

namespace {

provider_answer send_one(const smtp_options& options) {
  smtp_stage_of_test stage{options};
  return stage.send(message_to("ann@example.com"));
}

void check_paused(const provider_answer& answer) {
  BOOST_TEST((answer.kind == outcome_kind::throttled), answer.diagnostic);
  BOOST_TEST((answer.refused == refusal::sending_paused), answer.diagnostic);
}

void check_not_started(const provider_answer& answer) {
  BOOST_TEST((answer.kind == outcome_kind::not_started), answer.diagnostic);
  BOOST_TEST((answer.reason == reason_code::provider_unreachable), answer.diagnostic);
}

smtp_ways with_tls(const identity& proof) {
  smtp_ways ways;
  ways.proof = &proof;
  return ways;
}

smtp_ways peculiar(behaviour special) {
  smtp_ways ways;
  ways.special = std::move(special);
  return ways;
}

} // namespace

BOOST_AUTO_TEST_SUITE(smtp_connecting)

BOOST_AUTO_TEST_CASE(mail_and_password_travel_only_by_tls) {
  const authority trusted;
  const auto proof = trusted.issue("localhost");
  for (const bool implicit : {false, true})
    for (const std::string mechanisms : {"PLAIN", "LOGIN", "LOGIN PLAIN"}) {
      auto ways = with_tls(proof);
      ways.implicit_tls = implicit;
      ways.login = "paceline:pass word";
      ways.mechanisms = mechanisms;
      smtp_server server{ways};
      auto options = tls_options(server, trusted);
      if (implicit)
        options.security = smtp_options::protection::tls;
      options.username = "paceline";
      options.password = "pass word";
      smtp_stage_of_test stage{options};
      const auto message = message_to("ann@example.com", std::string(300'000, 'a') + "\r\n");
      for (int i = 0; i < 3; ++i) {
        const auto answer = stage.send(message);
        BOOST_TEST((answer.kind == outcome_kind::accepted), answer.diagnostic);
      }
      const auto taken = server.taken();
      BOOST_REQUIRE_EQUAL(taken.size(), 3);
      for (const auto& each : taken) {
        BOOST_TEST(each.by_tls);
        BOOST_TEST(each.login == "paceline:pass word");
        BOOST_TEST((each.text == message.raw));
      }
    }
}

BOOST_AUTO_TEST_CASE(without_starttls_nothing_is_said) {
  const authority trusted;
  smtp_server server; // offers none
  auto options = tls_options(server, trusted);
  options.username = "paceline";
  options.password = "secret";
  check_paused(send_one(options));
  BOOST_TEST(server.count("AUTH") == 0);
  BOOST_TEST(server.count("MAIL") == 0);
}

BOOST_AUTO_TEST_CASE(a_server_that_can_not_prove_who_it_is_gets_nothing) {
  const authority trusted, namesake;
  const auto good = trusted.issue("localhost"), expired = trusted.issue("localhost", -60),
             other = trusted.issue("mail.example.com");
  const auto try_it = [](const identity& proof, const std::string& ca_file) {
    auto ways = with_tls(proof);
    ways.login = "paceline:secret";
    smtp_server server{ways};
    auto options = plain_options(server);
    options.host = "localhost";
    options.security = smtp_options::protection::starttls;
    options.ca_file = ca_file;
    options.username = "paceline";
    options.password = "secret";
    const auto answer = send_one(options);
    BOOST_TEST((server.count("AUTH") > 0) == (answer.kind == outcome_kind::accepted));
    BOOST_TEST((server.count("MAIL") > 0) == (answer.kind == outcome_kind::accepted));
    return answer;
  };
  BOOST_TEST((try_it(good, trusted.file()).kind == outcome_kind::accepted));
  check_paused(try_it(good, "")); // the system's authorities don't know it
  check_paused(try_it(expired, trusted.file()));
  check_paused(try_it(other, trusted.file()));
  // The authority's name is right, its signature is not: libcurl tells no certificate from a
  // handshake that failed.
  BOOST_TEST((try_it(good, namesake.file()).kind != outcome_kind::accepted));
}

BOOST_AUTO_TEST_CASE(a_refused_login_stops_the_route_and_a_passing_failure_does_not) {
  const authority trusted;
  const auto proof = trusted.issue("localhost");
  auto ways = with_tls(proof);
  ways.login = "paceline:secret";
  smtp_server server{ways};
  auto options = tls_options(server, trusted);
  options.username = "paceline";
  options.password = "wrong";
  const auto answer = send_one(options);
  check_paused(answer);
  BOOST_TEST(answer.diagnostic.starts_with("535 5.7.8 wrong name or password"), answer.diagnostic);
  BOOST_TEST(answer.diagnostic.find("wrong\"") == std::string::npos);

  ways.special = on("AUTH", {"454 4.7.0 temporary authentication failure", false, false});
  smtp_server busy{ways};
  auto patient = tls_options(busy, trusted);
  patient.username = "paceline";
  patient.password = "secret";
  const auto later = send_one(patient);
  BOOST_TEST((later.kind == outcome_kind::throttled), later.diagnostic);
  BOOST_TEST((later.refused == refusal::rate), later.diagnostic);
}

BOOST_AUTO_TEST_CASE(a_server_that_greets_with_a_refusal_is_believed) {
  smtp_server busy{peculiar(on("", {"421 4.3.2 too many connections", true, false}))};
  const auto later = send_one(plain_options(busy));
  BOOST_TEST((later.kind == outcome_kind::throttled), later.diagnostic);
  BOOST_TEST((later.refused == refusal::rate), later.diagnostic);
  smtp_server closed{peculiar(on("", {"554 5.7.1 not for you", true, false}))};
  check_paused(send_one(plain_options(closed)));
}

BOOST_AUTO_TEST_CASE(an_unreachable_server_takes_nothing) {
  smtp_options options;
  {
    smtp_server gone;
    options = plain_options(gone);
  }
  smtp_stage_of_test stage{options};
  auto& first = stage.start(message_to("ann@example.com"));
  check_not_started(stage.answer_of(first));
  BOOST_TEST(first.asked == 0);
  // For a second it is not even tried again.
  check_not_started(stage.send(message_to("ann@example.com")));
  BOOST_TEST(!stage.is_healthy());

  options.host = "no-such-host.invalid";
  check_not_started(send_one(options));
}

BOOST_AUTO_TEST_CASE(a_silent_server_is_given_up_in_time) {
  smtp_server silent{peculiar(on("", {{}, false, true}))};
  auto options = plain_options(silent);
  options.connect_timeout = 200ms;
  check_not_started(send_one(options));
}

BOOST_AUTO_TEST_CASE(private_addresses_need_permission) {
  smtp_server server;
  auto options = plain_options(server);
  options.allow_private = false;
  const std::vector<std::string> hosts{"127.0.0.1", "localhost", "2130706433"};
  for (const auto& host : hosts) {
    options.host = host;
    const auto answer = send_one(options);
    check_not_started(answer);
    BOOST_TEST(answer.diagnostic.find("allow_private") != std::string::npos, answer.diagnostic);
  }
  BOOST_TEST(server.accepted() == 0);
}

BOOST_AUTO_TEST_CASE(a_file_of_authorities_that_is_none_is_refused_at_once) {
  machine_boot_time clock;
  epoll_reactor loop{clock};
  smtp_options options;
  options.host = "localhost";
  options.ca_file = "/no/such/file";
  BOOST_CHECK_THROW(make_smtp_provider(loop, options), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(no_more_connections_are_opened_than_allowed) {
  std::atomic<bool> holds{true};
  smtp_server server{peculiar([&holds](const std::string& command) -> std::optional<deed> {
    if (command == "." && holds)
      return deed{{}, false, true};
    return std::nullopt;
  })};
  auto options = plain_options(server);
  options.max_connections = 3;
  smtp_stage_of_test stage{options};
  for (int i = 0; i < 10; ++i)
    stage.start(message_to("ann@example.com"));
  BOOST_REQUIRE(stage.run_until([&server] { return server.count(".") == 3; }));
  BOOST_TEST(server.most_open() == 3);
  holds = false;
  server.close_all();
  BOOST_REQUIRE(stage.run_until([&server] { return server.taken().size() == 7; }));
  long unknown = 0, accepted = 0;
  for (const auto& each : stage.calls) {
    stage.answer_of(each);
    unknown += each.answer.kind == outcome_kind::unknown ? 1 : 0;
    accepted += each.answer.kind == outcome_kind::accepted ? 1 : 0;
    BOOST_TEST(each.answers == 1);
  }
  BOOST_TEST(unknown == 3);
  BOOST_TEST(accepted == 7);
}

BOOST_AUTO_TEST_CASE(a_message_that_waited_too_long_for_a_connection_comes_back) {
  smtp_server server{peculiar(on(".", {{}, false, true}))};
  auto options = plain_options(server);
  options.max_connections = 1;
  smtp_stage_of_test stage{options};
  stage.start(message_to("slow@example.com"));
  BOOST_REQUIRE(stage.run_until([&server] { return server.count(".") == 1; }));
  auto& waits = stage.start(message_to("ann@example.com"));
  waits.is_allowed = false; // its slot is gone
  const auto answer = stage.answer_of(waits);
  BOOST_TEST((answer.kind == outcome_kind::not_started));
  BOOST_TEST((answer.reason == reason_code::slot_missed));
  BOOST_TEST(waits.asked == 1);
  BOOST_TEST(server.count("MAIL") == 1);
}

BOOST_AUTO_TEST_CASE(connections_are_opened_ahead_where_that_is_wanted) {
  smtp_server server;
  auto options = plain_options(server);
  options.warm_connections = 4;
  smtp_stage_of_test stage{options};
  BOOST_TEST(stage.run_until([&server] { return server.count("EHLO") == 4; }));
}

BOOST_AUTO_TEST_CASE(idle_connections_end_with_a_quit_and_the_next_message_opens_another) {
  smtp_server server;
  auto options = plain_options(server);
  options.idle_timeout = 100ms;
  smtp_stage_of_test stage{options};
  BOOST_TEST((stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
  BOOST_TEST(stage.run_until([&server] { return server.open() == 0; }));
  BOOST_TEST(server.count("QUIT") >= 1);
  BOOST_TEST((stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
}

BOOST_AUTO_TEST_CASE(a_connection_that_the_server_closed_is_not_used_again) {
  smtp_server server;
  smtp_stage_of_test stage{plain_options(server)};
  BOOST_TEST((stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
  BOOST_REQUIRE(stage.run_until([&server] { return server.count("EHLO") == 2; })); // the spare
  server.close_all();
  BOOST_REQUIRE(stage.run_until([&server] { return server.open() == 0; }));
  stage.run_until([ticks = 0]() mutable { return ++ticks > 3; });
  BOOST_TEST((stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
}

BOOST_AUTO_TEST_CASE(a_connection_carries_a_bounded_number_of_messages) {
  smtp_server server;
  auto options = plain_options(server);
  options.messages_per_connection = 2;
  smtp_stage_of_test stage{options};
  for (int i = 0; i < 8; ++i)
    BOOST_TEST((stage.send(message_to("ann@example.com")).kind == outcome_kind::accepted));
  BOOST_TEST(server.accepted() >= 4);
  BOOST_TEST(server.count("QUIT") >= 3);
}

BOOST_AUTO_TEST_CASE(health_is_asked_without_a_message) {
  smtp_server server;
  auto options = plain_options(server);
  options.max_connections = 1;
  smtp_stage_of_test stage{options};
  BOOST_TEST(stage.is_healthy());
  BOOST_TEST(stage.is_healthy()); // on the idle connection
  BOOST_TEST(server.count("NOOP") == 2);
  BOOST_TEST(server.count("MAIL") == 0);
  BOOST_TEST(server.accepted() == 1);
  smtp_server ill{peculiar(on("NOOP", {"421 4.3.2 closing", true, false}))};
  smtp_stage_of_test other{plain_options(ill)};
  BOOST_TEST(!other.is_healthy());
}

BOOST_AUTO_TEST_CASE(the_quota_is_the_configured_rate) {
  smtp_server server;
  smtp_stage_of_test stage{plain_options(server)};
  std::optional<quota_reading> told;
  stage.sends->ask_quota([&told](const result<quota_reading>& quota) { told = *quota; });
  BOOST_REQUIRE(told.has_value());
  BOOST_TEST(told->max_send_rate.per_second() == 20);
  BOOST_TEST(told->max_24h == -1);
}

BOOST_AUTO_TEST_SUITE_END()
