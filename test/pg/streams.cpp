#include "test/pg/database_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/routes.hpp"
#include "storage/streams.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

class streams_fixture : public route_fixture {
public:
  void add_state(std::int64_t id, stream_id stream, const std::string& due, int status = 0) {
    ask("INSERT INTO message_states (id, stream, due_at, changed_at, route, bucket, status, cost) "
        "VALUES ("
        + std::to_string(id) + ", " + std::to_string(stream.value()) + ", clock_timestamp() + '"
        + due + "'::interval, clock_timestamp(), " + std::to_string(route.value()) + ", 0, "
        + std::to_string(status) + ", 1)");
  }
  std::vector<due_stream> found() { return must(due_streams(*db, {route})); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(streams, streams_fixture)

BOOST_AUTO_TEST_CASE(direct_mail_of_a_project_has_one_stream_per_route) {
  std::vector<std::unique_ptr<session>> connections;
  std::vector<std::future<stream_id>> running;
  for (int i = 0; i < 4; ++i)
    connections.push_back(connect());
  for (auto& on : connections)
    running.push_back(std::async(std::launch::async, [this, &on] {
      return must(direct_stream(*on, route, project_id{1}));
    }));
  const auto known = must(direct_stream(*db, route, project_id{1}));
  for (auto& one : running)
    BOOST_TEST(one.get().value() == known.value());
  BOOST_TEST(known.value() > 0);
}

BOOST_AUTO_TEST_CASE(a_stream_is_due_by_its_earliest_queued_row) {
  const auto direct = must(direct_stream(*db, route, project_id{1}));
  BOOST_TEST(found().empty());
  add_state(1, direct, "-10 s", 1);
  BOOST_TEST(found().empty());
  add_state(2, direct, "2 minutes");
  BOOST_TEST(found().empty());
  add_state(3, direct, "30 s");
  BOOST_REQUIRE(found().size() == 1U);
  const auto later = found().front();
  BOOST_TEST((later.due_in > nanoseconds{0} && later.due_in <= std::chrono::seconds{30}));
  BOOST_TEST(later.priority == 0);
  BOOST_TEST(!later.rate_cap);
  add_state(4, direct, "-1 s");
  BOOST_TEST(found().front().due_in.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_row_that_is_due_at_no_time_hides_no_other_stream) {
  const auto direct = must(direct_stream(*db, route, project_id{1}));
  const auto urgent = must(direct_stream(*db, route, project_id{1}, 1));
  BOOST_TEST(direct.value() != urgent.value());
  add_state(1, direct, "-1 s");
  add_state(2, urgent, "-1 s");
  ask("UPDATE message_states SET due_at = '-infinity' WHERE id = 2");
  BOOST_TEST(found().size() == 2U);
  ask("UPDATE message_states SET due_at = 'infinity' WHERE id = 2");
  BOOST_TEST(found().size() == 1U);
}

BOOST_AUTO_TEST_CASE(routes_are_found_by_their_environment) {
  const auto routes = must(find_routes(*db, "live"));
  BOOST_REQUIRE(routes.size() == 1U);
  BOOST_TEST(routes[0].name.text() == "live:r1");
  BOOST_TEST(routes[0].state == "running");
  BOOST_TEST(must(find_routes(*db, "test")).empty());
}

BOOST_AUTO_TEST_CASE(streams_that_don_t_run_are_not_due) {
  const auto direct = must(direct_stream(*db, route, project_id{1}));
  add_state(1, direct, "-1 s");
  ask("UPDATE streams SET state = 'paused'");
  BOOST_TEST(found().empty());
  ask("UPDATE streams SET state = 'running', rate_cap_mhz = 1500");
  BOOST_TEST(found().front().rate_cap.value().per_second() == 1.5);
}

BOOST_AUTO_TEST_SUITE_END()
