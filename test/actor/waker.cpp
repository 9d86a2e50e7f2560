// The waker in virtual time. The pool has stopped: what goes to other nodes is dropped, as it would
// be without a database.

#include <boost/test/unit_test.hpp>

#include "actors/waker.hpp"
#include "test/actor/listener.hpp"
#include "test/support/virtual_time.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

namespace {

struct waker_stage {
  waker_stage() {
    pool.stop();
    here = time.spawn<listener>(noted);
    waker = time.spawn<waker_actor>(waker_options{20ms}, pool, time,
                                    std::vector<caf::actor_addr>{here.address()});
    time.pass(1s);
  }
  void wake(const std::string& route) {
    caf::anon_send(waker, wake_route{route});
    time.settle();
  }

  virtual_time time;
  statement_counts counts;
  database_pool pool{{"host=/nowhere"}, 1, 1, counts};
  heard noted;
  caf::actor here, waker;
};

} // namespace

BOOST_AUTO_TEST_SUITE(waker)

BOOST_AUTO_TEST_CASE(the_first_wake_is_passed_on_at_once) {
  waker_stage stage;
  stage.wake("test:sim");
  BOOST_TEST_REQUIRE(stage.noted.woken.size() == 1u);
  BOOST_TEST(stage.noted.woken.front().route == "test:sim");
}

BOOST_AUTO_TEST_CASE(a_burst_of_wakes_becomes_one_more_word) {
  waker_stage stage;
  for (int i = 0; i < 1000; ++i)
    stage.wake("test:sim");
  BOOST_TEST(stage.noted.woken.size() == 1u);
  stage.time.pass(20ms);
  BOOST_TEST(stage.noted.woken.size() == 2u);
  stage.time.pass(1s);
  BOOST_TEST(stage.noted.woken.size() == 2u);
}

BOOST_AUTO_TEST_CASE(what_comes_after_the_last_word_is_never_lost) {
  waker_stage stage;
  stage.wake("test:sim");
  stage.time.pass(19ms);
  stage.wake("test:sim");
  stage.time.pass(20ms);
  BOOST_TEST(stage.noted.woken.size() == 2u);
}

BOOST_AUTO_TEST_CASE(routes_don_t_wait_for_each_other) {
  waker_stage stage;
  stage.wake("test:sim");
  stage.wake("test:other");
  BOOST_TEST(stage.noted.woken.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
