#include "test/pg/database_fixture.hpp"

#include <condition_variable>
#include <deque>

#include <boost/test/unit_test.hpp>

#include "storage/wake_listener.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// Wake-ups as they come, from the listener's thread to the test's.
class inbox {
public:
  void put(std::string_view route) {
    const std::lock_guard lock{mutex_};
    routes_.emplace_back(route);
    arrived_.notify_all();
  }
  std::string take() {
    std::unique_lock lock{mutex_};
    if (!arrived_.wait_for(lock, std::chrono::seconds{30}, [this] { return !routes_.empty(); }))
      return "nothing came";
    auto route = routes_.front();
    routes_.pop_front();
    return route;
  }

private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> routes_;
};

class wake_fixture : public migrated_fixture {
public:
  connection_options listening() const {
    auto made = options();
    made.application_name = "wake";
    return made;
  }
  void wake(const std::string& route) { must(send_wake(*db, route)); }

  inbox woken;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(wake_listening, wake_fixture)

BOOST_AUTO_TEST_CASE(a_wake_up_arrives_and_connecting_counts_as_one) {
  const wake_listener listener{listening(), std::chrono::seconds{60},
                               [this](std::string_view route) { woken.put(route); }};
  BOOST_TEST(woken.take() == "");
  wake("live:r1");
  wake("test:r2");
  BOOST_TEST(woken.take() == "live:r1");
  BOOST_TEST(woken.take() == "test:r2");
}

BOOST_AUTO_TEST_CASE(after_its_session_was_ended_it_listens_again_and_says_so_once) {
  const wake_listener listener{listening(), std::chrono::seconds{60},
                               [this](std::string_view route) { woken.put(route); }};
  BOOST_TEST(woken.take() == "");
  for (int i = 0; i < 3; ++i) {
    ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'wake' AND datname = current_database()");
    BOOST_TEST(woken.take() == "");
    wake("live:r1");
    BOOST_TEST(woken.take() == "live:r1");
  }
}

BOOST_AUTO_TEST_CASE(a_wake_up_that_comes_with_a_probe_is_not_lost) {
  const wake_listener listener{listening(), std::chrono::milliseconds{10},
                               [this](std::string_view route) { woken.put(route); }};
  BOOST_TEST(woken.take() == "");
  for (int i = 0; i < 200; ++i)
    wake("live:r" + std::to_string(i));
  for (int i = 0; i < 200; ++i)
    BOOST_TEST(woken.take() == "live:r" + std::to_string(i));
}

BOOST_AUTO_TEST_CASE(a_listener_without_a_database_can_be_ended) {
  auto nowhere = listening();
  nowhere.dsn = "host=127.0.0.1 port=1";
  const wake_listener listener{nowhere, std::chrono::seconds{60}, [](std::string_view) {}};
}

BOOST_AUTO_TEST_SUITE_END()
