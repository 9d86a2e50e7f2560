#include <boost/test/unit_test.hpp>

#include "test/unit/outgoing_support.hpp"
#include "transport/outgoing/transfer_verdict.hpp"

using namespace paceline;
using namespace paceline::outgoing_test;

namespace {

transfer_facts written(CURLcode code) {
  transfer_facts facts;
  facts.code = code;
  facts.asked = true;
  return facts;
}

/// A transfer's lines: those before the first byte, then those after it.
http2_notes read(const std::vector<std::string>& before, const std::vector<std::string>& after,
                 departures& seen) {
  http2_notes notes;
  for (const auto& line : before)
    note_line(line, false, notes, seen);
  for (const auto& line : after)
    note_line(line, true, notes, seen);
  return notes;
}

} // namespace

BOOST_AUTO_TEST_SUITE(outgoing_verdicts)

BOOST_AUTO_TEST_CASE(whatever_fails_before_the_question_was_not_written) {
  for (auto code : {CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
                    CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_LOGIN_DENIED,
                    CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_URL_MALFORMAT}) {
    transfer_facts facts;
    facts.code = code;
    BOOST_TEST(judge(facts) == transfer_end::not_written);
  }
}

BOOST_AUTO_TEST_CASE(after_the_question_nothing_counts_as_not_written) {
  for (int code = 1; code < CURL_LAST; ++code)
    BOOST_TEST(judge(written(static_cast<CURLcode>(code))) != transfer_end::not_written);
}

BOOST_AUTO_TEST_CASE(a_failed_repeat_is_lost_however_it_failed) {
  // The first attempt was written; that the second could not connect says nothing about it.
  BOOST_TEST(judge(written(CURLE_COULDNT_CONNECT)) == transfer_end::lost);
  auto facts = written(CURLE_ABORTED_BY_CALLBACK);
  facts.repeated = true;
  BOOST_TEST(judge(facts) == transfer_end::lost);
}

BOOST_AUTO_TEST_CASE(only_evidence_makes_a_request_not_taken) {
  auto facts = written(CURLE_ABORTED_BY_CALLBACK);
  facts.repeated = true;
  facts.not_taken = true;
  BOOST_TEST(judge(facts) == transfer_end::not_taken);
  facts.code = CURLE_OK;
  facts.repeated = false;
  BOOST_TEST(judge(facts) == transfer_end::answered);
}

BOOST_AUTO_TEST_CASE(streams_above_the_last_of_a_goaway_were_not_taken) {
  departures seen;
  auto with_stream = [&seen](int stream) {
    return read({"Re-using existing connection #3 with host localhost"},
                {"Using Stream ID: " + std::to_string(stream) + " (easy handle 0x1)"}, seen);
  };
  auto below = with_stream(5), last = with_stream(7), above = with_stream(9);
  BOOST_TEST(!seen.excludes(above));
  read({"Connected to localhost (127.0.0.1) port 443 (#3)"},
       {"recveived GOAWAY, error=0, last_stream=7"}, seen);
  BOOST_TEST(!seen.excludes(below));
  BOOST_TEST(!seen.excludes(last));
  BOOST_TEST(seen.excludes(above));
  auto elsewhere = read({"Re-using existing connection #4 with host localhost"},
                        {"Using Stream ID: 9 (easy handle 0x1)"}, seen);
  BOOST_TEST(!seen.excludes(elsewhere));
}

BOOST_AUTO_TEST_CASE(lines_after_the_attempt_are_about_other_connections) {
  departures seen;
  auto notes =
      read({"Re-using existing connection #3 with host localhost"},
           {"Using Stream ID: 9 (easy handle 0x1)",
            "Connection died, retrying a fresh connect (retry count: 1)",
            "Found bundle for host: 0x1 [can multiplex]",
            "recveived GOAWAY, error=0, last_stream=1", "REFUSED_STREAM, retrying a fresh"},
           seen);
  BOOST_TEST(!notes.refused);
  BOOST_TEST(!seen.excludes(notes));
}

BOOST_AUTO_TEST_CASE(lines_without_their_numbers_prove_nothing) {
  departures seen;
  auto notes =
      read({"Re-using existing connection #x", "Connected to"},
           {"Using Stream ID: ", "GOAWAY, error=0, last_stream=", "GOAWAY, error=0"}, seen);
  BOOST_TEST(!notes.connection.has_value());
  BOOST_TEST(!notes.stream.has_value());
  BOOST_TEST(!seen.excludes(notes));
}

BOOST_AUTO_TEST_CASE(departures_are_forgotten_after_64_others) {
  departures seen;
  http2_notes notes;
  notes.connection = 1;
  notes.stream = 9;
  seen.add(1, 7);
  for (int other = 2; other < 65; ++other)
    seen.add(other, 7);
  BOOST_TEST(seen.excludes(notes));
  seen.add(65, 7);
  BOOST_TEST(!seen.excludes(notes));
}

BOOST_AUTO_TEST_SUITE_END()
