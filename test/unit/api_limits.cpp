#include <boost/test/unit_test.hpp>

#include <random>
#include <vector>

#include "transport/api/outstanding_tally.hpp"
#include "transport/api/sliding_window.hpp"

namespace paceline {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

boot_instant at(nanoseconds since) {
  return boot_instant{seconds{1000} + since};
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_limits)

BOOST_AUTO_TEST_CASE(a_window_takes_as_many_as_its_limit_and_not_one_more) {
  sliding_window window{3};
  BOOST_TEST(window.take(2, at(seconds{0})));
  BOOST_TEST(!window.take(2, at(seconds{0})));
  BOOST_TEST(window.take(1, at(seconds{1})));
  BOOST_TEST(!window.take(1, at(seconds{1})));
}

BOOST_AUTO_TEST_CASE(what_it_says_to_wait_is_true) {
  sliding_window window{3};
  BOOST_TEST(window.take(2, at(seconds{0})));
  BOOST_TEST(window.take(1, at(seconds{10})));
  const auto now = at(seconds{20});
  for (const int count : {1, 2, 3}) {
    const auto wait = window.wait_for(count, now);
    auto early = window;
    BOOST_TEST(!early.take(count, now + wait - nanoseconds{1}));
    auto late = window;
    BOOST_TEST(late.take(count, now + wait));
  }
  BOOST_TEST((window.wait_for(4, now) == sliding_window::never));
}

BOOST_AUTO_TEST_CASE(no_window_of_60_seconds_holds_more_than_the_limit) {
  // Not only aligned ones: a limit of one per window must never let two into one.
  for (const std::int64_t limit : {1, 2, 7, 100}) {
    std::mt19937_64 random{static_cast<std::uint64_t>(limit)};
    sliding_window window{limit};
    std::vector<std::pair<boot_instant, std::int64_t>> taken;
    auto now = at(nanoseconds{0});
    for (int i = 0; i < 5000; ++i) {
      now += nanoseconds{static_cast<std::int64_t>(random() % 3'000'000'000)};
      const auto count = static_cast<std::int64_t>(random() % 3 + 1);
      if (window.take(count, now))
        taken.emplace_back(now, count);
    }
    BOOST_TEST(taken.size() > 100u);
    std::size_t first = 0;
    std::int64_t inside = 0;
    for (const auto& [instant, count] : taken) {
      inside += count;
      while (instant - taken[first].first >= sliding_window::length)
        inside -= taken[first++].second;
      BOOST_REQUIRE(inside <= limit);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_steady_sender_gets_nearly_all_of_the_limit) {
  sliding_window window{60};
  std::int64_t taken = 0;
  for (int tenth = 0; tenth < 6000; ++tenth)
    taken += window.take(1, at(milliseconds{100} * tenth)) ? 1 : 0;
  BOOST_TEST(taken >= 590);
  BOOST_TEST(taken <= 600);
}

BOOST_AUTO_TEST_CASE(a_lower_limit_counts_what_was_taken_before) {
  sliding_window window{10};
  BOOST_TEST(window.take(5, at(seconds{0})));
  window.set_limit(5);
  BOOST_TEST(!window.take(1, at(seconds{1})));
  window.set_limit(6);
  BOOST_TEST(window.take(1, at(seconds{1})));
  BOOST_TEST(!window.is_empty(at(seconds{61})));
  BOOST_TEST(window.is_empty(at(seconds{62})));
}

BOOST_AUTO_TEST_CASE(the_tally_counts_what_is_being_stored_and_what_was_stored_since) {
  outstanding_tally tally;
  BOOST_TEST(tally.is_old(at(seconds{0})));
  tally.begin_asking(at(seconds{0}));
  tally.end_asking(5);
  BOOST_TEST(tally.reserve(3, 8));
  BOOST_TEST(!tally.reserve(1, 8));
  tally.settle(3);
  BOOST_TEST(!tally.reserve(1, 8));
  BOOST_TEST(tally.reserve(1, 9));
  tally.release(1);
  BOOST_TEST(tally.estimate() == 8);
  BOOST_TEST(!tally.is_old(at(milliseconds{999})));
  BOOST_TEST(tally.is_old(at(seconds{1})));
}

BOOST_AUTO_TEST_CASE(what_is_stored_while_the_database_is_asked_counts_beside_the_answer) {
  outstanding_tally tally;
  BOOST_TEST(tally.reserve(2, 10));
  BOOST_TEST(tally.reserve(3, 10));
  tally.settle(2); // before the question: the answer has it
  tally.begin_asking(at(seconds{0}));
  tally.settle(3); // after it: the answer may lack it
  tally.end_asking(2);
  BOOST_TEST(tally.estimate() == 5);
  tally.begin_asking(at(seconds{1}));
  tally.end_asking(5);
  BOOST_TEST(tally.estimate() == 5);
}

BOOST_AUTO_TEST_CASE(a_question_without_an_answer_forgets_nothing) {
  outstanding_tally tally;
  BOOST_TEST(tally.reserve(2, 10));
  tally.settle(2);
  tally.begin_asking(at(seconds{0}));
  tally.fail_asking();
  BOOST_TEST(tally.estimate() == 2);
  BOOST_TEST(!tally.is_known());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline
