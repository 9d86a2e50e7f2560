#include <boost/test/unit_test.hpp>

#include "actors/dispatch/upload_gate.hpp"

using namespace paceline;
using namespace std::chrono_literals;

namespace {

constexpr database_instant origin{nanoseconds{1'790'000'000'000'000'000}};
constexpr upload_limit ses{10'000'000, 40'000'000};

} // namespace

BOOST_AUTO_TEST_SUITE(dispatch_upload)

BOOST_AUTO_TEST_CASE(small_mail_and_routes_without_a_limit_pass_freely) {
  upload_gate gate(ses, 1);
  upload_gate open({}, 1);
  for (int id = 1; id < 1000; ++id) {
    BOOST_TEST(gate.wait_for(message_id{id}, 9'999'999, origin).count() == 0);
    BOOST_TEST(open.wait_for(message_id{id}, 40'000'000, origin).count() == 0);
  }
}

BOOST_AUTO_TEST_CASE(large_mail_goes_at_the_shards_part_of_the_bandwidth) {
  upload_gate gate(ses, 4);
  // 20 MB at 10 MB/s: one every two seconds.
  BOOST_TEST(gate.wait_for(message_id{1}, 20'000'000, origin).count() == 0);
  BOOST_TEST((gate.wait_for(message_id{2}, 20'000'000, origin) == nanoseconds{2s}));
  BOOST_TEST((gate.wait_for(message_id{3}, 20'000'000, origin) == nanoseconds{4s}));
}

BOOST_AUTO_TEST_CASE(who_comes_back_at_the_time_it_was_given_may_go_whatever_came_since) {
  upload_gate gate(ses, 1);
  for (int id = 1; id <= 10; ++id)
    gate.wait_for(message_id{id}, 40'000'000, origin);
  BOOST_TEST((gate.wait_for(message_id{3}, 40'000'000, origin + 1s) == nanoseconds{1s}));
  BOOST_TEST(gate.wait_for(message_id{3}, 40'000'000, origin + 2s).count() == 0);
  BOOST_TEST((gate.wait_for(message_id{11}, 40'000'000, origin + 2s) == nanoseconds{8s}));
}

BOOST_AUTO_TEST_CASE(a_pause_saves_no_bandwidth_up) {
  upload_gate gate(ses, 1);
  gate.wait_for(message_id{1}, 40'000'000, origin);
  BOOST_TEST(gate.wait_for(message_id{2}, 40'000'000, origin + 1h).count() == 0);
  BOOST_TEST((gate.wait_for(message_id{3}, 40'000'000, origin + 1h) == nanoseconds{1s}));
}

BOOST_AUTO_TEST_SUITE_END()
