/// Outgoing HTTP/2 against node's own server: what its refusals and departures come to.
#include <boost/test/unit_test.hpp>

#include <map>

#include "test/peers/node_peer.hpp"
#include "test/unit/outgoing_support.hpp"

using namespace paceline;
using namespace paceline::outgoing_test;

namespace {

/// node with http2_server.mjs.
class http2_peer {
public:
  http2_peer(const identity_files& files, int streams)
      : node_({PACELINE_SOURCE_DIR "/test/peers/http2_server.mjs", files.certificate_file,
               files.key_file, std::to_string(streams)}),
        port_(node_.read_line()) {}

  std::string url(const std::string& path) const { return "https://localhost:" + port_ + path; }

  /// Everything that its application has read until `last` came, and how often.
  std::map<std::string, int> ledger_until(const std::string& last) {
    while (ledger_[last] == 0) {
      auto line = node_.read_line();
      BOOST_REQUIRE(!line.empty());
      ++ledger_[line];
    }
    return ledger_;
  }

private:
  test::node_peer node_;
  std::string port_;
  std::map<std::string, int> ledger_;
};

/// The script needs no modules, but who has none may have no node.
boost::test_tools::assertion_result is_node_there(boost::unit_test::test_unit_id) {
  return test::peer_script("http2_server.mjs").has_value();
}

struct http2_fixture {
  explicit http2_fixture(int streams = 100)
      : files(trusted.issue("localhost")), peer(files, streams), stage(local_options(&trusted)) {
    // From now on the connection is a reused one, as most are.
    BOOST_TEST(post("/ok", "hello").end == transfer_end::answered);
  }

  http_result post(const std::string& path, const std::string& body) {
    return stage.post(peer.url(path), body);
  }

  /// Starts it; `ends` gets the result under the body's name.
  void start(const std::string& path, const std::string& body) {
    outgoing_request what;
    what.url = peer.url(path);
    what.body = body;
    stage.client.send(
        what, [this] { return ++asked > 0; },
        [this, body](const http_result& result) { ends[body] = result.end; });
  }

  bool all_ended(std::size_t count) {
    return stage.run_until([this, count] { return ends.size() == count; });
  }

  authority trusted;
  identity_files files;
  http2_peer peer;
  client_stage stage;
  std::map<std::string, transfer_end> ends;
  int asked = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(outgoing_http2, http2_fixture,
                         *boost::unit_test::precondition(is_node_there))

BOOST_AUTO_TEST_CASE(requests_share_a_connection_and_none_waits_for_another) {
  for (int i = 0; i < 50; ++i)
    start("/hold", std::to_string(i));
  BOOST_REQUIRE(stage.run_until([this] { return asked == 50; }));
  start("/release", "go");
  BOOST_TEST(all_ended(51));
  for (const auto& [body, end] : ends)
    BOOST_TEST(end == transfer_end::answered, body);
  BOOST_TEST(stage.client.engine().connections() == 1u);
}

BOOST_AUTO_TEST_CASE(a_burst_before_the_first_connection_shares_a_few) {
  client_stage cold(local_options(&trusted));
  int answered = 0;
  for (int i = 0; i < 200; ++i) {
    outgoing_request what;
    what.url = peer.url("/ok");
    what.body = "burst " + std::to_string(i);
    cold.client.send(
        what, [] { return true; },
        [&answered](const http_result& result) {
          answered += result.end == transfer_end::answered;
        });
  }
  BOOST_TEST(cold.run_until([&answered] { return answered == 200; }));
  BOOST_TEST(cold.client.engine().connections() <= 8u);
  start("/ok", "end of burst");
  BOOST_TEST(all_ended(1));
  auto ledger = peer.ledger_until("end of burst");
  for (int i = 0; i < 200; ++i)
    BOOST_TEST(ledger["burst " + std::to_string(i)] == 1);
}

BOOST_AUTO_TEST_CASE(warming_opens_eight_connections_at_most) {
  stage.client.keep_free(peer.url("/ok"), 40);
  auto& engine = stage.client.engine();
  BOOST_TEST(stage.run_until([&engine] { return engine.in_flight() == 0; }));
  BOOST_TEST(engine.connections() >= 1u);
  BOOST_TEST(engine.connections() <= 8u);
  BOOST_TEST(stage.client.is_ready(peer.url("/ok")));
}

BOOST_AUTO_TEST_CASE(a_refused_stream_is_never_written_again_unasked) {
  start("/refuse", "refused");
  BOOST_TEST(all_ended(1));
  // On a reused connection libcurl does not say why it would repeat.
  BOOST_TEST(ends["refused"] == transfer_end::lost);
  BOOST_TEST(asked == 1);
}

BOOST_AUTO_TEST_CASE(a_stream_refused_on_a_new_connection_was_not_taken) {
  client_stage cold(local_options(&trusted));
  auto result = cold.post(peer.url("/refuse"), "refused");
  BOOST_TEST(result.end == transfer_end::not_taken, result.diagnostic);
}

BOOST_AUTO_TEST_CASE(a_loss_after_a_refusal_is_not_taken_for_one) {
  client_stage other(local_options(&trusted));
  BOOST_TEST(post("/refuse", "refused").end == transfer_end::lost);
  other.post(peer.url("/sever"), "severed"); // the next request needs a new connection
  auto lost = post("/reset", "reset");
  BOOST_TEST(lost.end == transfer_end::lost, lost.diagnostic);
}

BOOST_AUTO_TEST_CASE(streams_above_the_last_of_a_goaway_were_not_taken) {
  start("/hold", "held");
  start("/goaway", "excluded");
  BOOST_TEST(stage.run_until([this] { return ends.contains("excluded"); }));
  BOOST_TEST(ends["excluded"] == transfer_end::not_taken);
  start("/release", "go"); // by another connection
  BOOST_TEST(all_ended(3));
  BOOST_TEST(ends["held"] == transfer_end::answered);
  BOOST_TEST(asked == 3);
}

BOOST_AUTO_TEST_CASE(streams_up_to_the_last_of_a_goaway_are_answered) {
  start("/leave", "last");
  BOOST_TEST(all_ended(1));
  BOOST_TEST(ends["last"] == transfer_end::answered);
  start("/ok", "next");
  BOOST_TEST(all_ended(2));
  BOOST_TEST(ends["next"] == transfer_end::answered);
}

BOOST_AUTO_TEST_CASE(streams_that_the_server_broke_are_lost) {
  start("/cancel", "canceled");
  start("/cut", "cut");
  BOOST_TEST(all_ended(2));
  for (const auto& [body, end] : ends)
    BOOST_TEST(end == transfer_end::lost, body);
}

BOOST_AUTO_TEST_CASE(a_severed_connection_loses_all_its_streams_and_repeats_none) {
  for (int i = 0; i < 20; ++i)
    start("/hold", std::to_string(i));
  BOOST_REQUIRE(stage.run_until([this] { return asked == 20; }));
  start("/sever", "severed");
  BOOST_TEST(all_ended(21));
  for (const auto& [body, end] : ends)
    BOOST_TEST(end == transfer_end::lost, body);
  start("/ok", "afterwards");
  BOOST_TEST(all_ended(22));
  BOOST_TEST(ends["afterwards"] == transfer_end::answered);
  for (const auto& [body, times] : peer.ledger_until("afterwards"))
    BOOST_TEST(times == 1, body);
  BOOST_TEST(asked == 22);
}

BOOST_AUTO_TEST_CASE(answers_have_the_same_bounds) {
  start("/headers", "headers");
  start("/endless", "endless");
  BOOST_TEST(all_ended(2));
  BOOST_TEST(ends["headers"] == transfer_end::too_large);
  BOOST_TEST(ends["endless"] == transfer_end::too_large);
}

BOOST_AUTO_TEST_CASE(a_no_of_the_owner_leaves_the_connection_to_others) {
  start("/hold", "held");
  outgoing_request what;
  what.url = peer.url("/ok");
  what.body = "forbidden";
  BOOST_TEST(stage.ask(what, [] { return false; }).end == transfer_end::refused);
  start("/release", "go");
  BOOST_TEST(all_ended(2));
  BOOST_TEST(ends["held"] == transfer_end::answered);
  BOOST_TEST(peer.ledger_until("go").count("forbidden") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(outgoing_http2_limits, *boost::unit_test::precondition(is_node_there))

BOOST_AUTO_TEST_CASE(a_burst_above_a_very_low_bound_is_read_once_or_refused) {
  http2_fixture narrow(4);
  for (int i = 0; i < 40; ++i)
    narrow.start("/ok", "burst " + std::to_string(i));
  BOOST_TEST(narrow.all_ended(40));
  narrow.start("/ok", "afterwards");
  BOOST_TEST(narrow.all_ended(41));
  auto ledger = narrow.peer.ledger_until("afterwards");
  for (const auto& [body, end] : narrow.ends) {
    BOOST_TEST(ledger[body] <= 1, body);
    BOOST_TEST((end == transfer_end::lost || ledger[body] == (end == transfer_end::answered)),
               body << ' ' << end);
  }
  BOOST_TEST(narrow.stage.client.engine().connections() <= 8u);
}

BOOST_AUTO_TEST_SUITE_END()
