#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "test/unit/courier_support.hpp"
#include "transport/courier.hpp"
#include "transport/providers/simulated.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

class waiting_sink final : public outcome_sink {
public:
  void deliver(shard_id, std::vector<delivery> outcomes) override {
    std::lock_guard lock{mutex_};
    for (auto& one : outcomes)
      all_.push_back(std::move(one));
    changed_.notify_all();
  }
  std::vector<delivery> wait_for(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, seconds{60}, [this, count] { return all_.size() >= count; });
    return all_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<delivery> all_;
};

/// A courier with its thread, the real clock and a simulated provider.
struct running_courier {
  machine_boot_time clock;
  waiting_sink sink;
  courier sends;

  explicit running_courier(nanoseconds latency) : sends(courier_options{}, sink, clock) {
    simulated_options options;
    options.latency = latency;
    options.quota = rate::per_second(1'000'000);
    sends.add_route(route_id{1},
                    [options](reactor& loop) { return make_simulated_provider(loop, options); });
    sends.set_deadline(shard_id{1}, epoch_id{1}, clock.now() + std::chrono::hours{1});
  }

  std::vector<send_order> orders(std::int64_t first, std::int64_t count, nanoseconds distance,
                                 std::string recipient = "anna@example.com") const {
    std::vector<send_order> made;
    for (std::int64_t i = 0; i < count; ++i) {
      send_order one;
      one.shard = shard_id{1};
      one.epoch = epoch_id{1};
      one.route = route_id{1};
      one.stream = stream_id{1};
      one.grid_number = 1;
      one.at = clock.now() + (i + 1) * distance;
      one.latest = one.at + std::chrono::minutes{1}; // a loaded machine is not what is tested
      one.slot = database_instant{seconds{1000}};
      one.message = message_to(first + i, recipient);
      made.push_back(std::move(one));
    }
    return made;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(courier_thread)

BOOST_AUTO_TEST_CASE(no_order_starts_before_its_slot_and_each_has_one_outcome) {
  running_courier running{milliseconds{2}};
  running.sends.submit(running.orders(1, 200, std::chrono::microseconds{300}));
  auto all = running.sink.wait_for(200);
  BOOST_REQUIRE(all.size() == 200u);
  std::map<std::int64_t, int> seen;
  for (const auto& one : all) {
    BOOST_TEST((one.result.kind == outcome_kind::accepted));
    BOOST_REQUIRE(one.result.started_at.has_value());
    BOOST_TEST((*one.result.started_at >= one.order.slot));
    BOOST_TEST(++seen[one.result.of.message.value()] == 1);
  }
  running.sends.stop(seconds{1});
  auto gauges = running.sends.gauges();
  BOOST_TEST(gauges.started == 200u);
  BOOST_TEST(gauges.waiting == 0u);
  BOOST_TEST(gauges.in_flight == 0u);
}

BOOST_AUTO_TEST_CASE(requests_of_one_thread_act_in_their_order) {
  running_courier running{nanoseconds{0}};
  running.sends.stop_stream(stream_id{1});
  running.sends.allow_stream(stream_id{1});
  running.sends.set_deadline(shard_id{2}, epoch_id{3}, running.clock.now() + seconds{60});
  auto orders = running.orders(1, 1, milliseconds{1});
  orders[0].shard = shard_id{2};
  orders[0].epoch = epoch_id{3};
  running.sends.submit(std::move(orders));
  auto all = running.sink.wait_for(1);
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST((all[0].result.kind == outcome_kind::accepted));
}

BOOST_AUTO_TEST_CASE(stopping_drains_and_leaves_nothing_out) {
  running_courier running{milliseconds{20}};
  running.sends.submit(running.orders(1, 20, nanoseconds{0}));
  running.sends.submit(running.orders(100, 20, seconds{1000}));
  while (running.sends.gauges().started < 20)
    std::this_thread::yield();
  running.sends.stop(seconds{60});
  running.sends.stop(seconds{60});
  auto all = running.sink.wait_for(0);
  BOOST_REQUIRE(all.size() == 40u);
  for (const auto& one : all) {
    bool was_waiting = one.result.of.message.value() >= 100;
    BOOST_TEST(
        (one.result.kind == (was_waiting ? outcome_kind::not_started : outcome_kind::accepted)));
  }
}

BOOST_AUTO_TEST_CASE(what_has_no_answer_when_patience_ends_is_unknown) {
  running_courier running{milliseconds{1}};
  running.sends.submit(running.orders(1, 1, nanoseconds{0}, "timeout@simulator.paceline.test"));
  while (running.sends.gauges().started < 1)
    std::this_thread::yield();
  running.sends.stop(nanoseconds{0});
  auto all = running.sink.wait_for(1);
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST((all[0].result.kind == outcome_kind::unknown));
}

BOOST_AUTO_TEST_CASE(orders_after_the_end_come_back_not_started) {
  running_courier running{milliseconds{1}};
  running.sends.stop(nanoseconds{0});
  running.sends.submit(running.orders(1, 3, nanoseconds{0}));
  auto all = running.sink.wait_for(3);
  BOOST_REQUIRE(all.size() == 3u);
  for (const auto& one : all)
    BOOST_TEST((one.result.reason == reason_code::node_stopping));
}

BOOST_AUTO_TEST_CASE(a_provider_that_can_not_be_made_is_reported_to_whoever_adds_it) {
  running_courier running{milliseconds{1}};
  simulated_options options;
  options.ledger = "/nonexistent/folder/ledger";
  BOOST_CHECK_THROW(
      running.sends.add_route(
          route_id{2}, [options](reactor& loop) { return make_simulated_provider(loop, options); }),
      std::system_error);
}

BOOST_AUTO_TEST_CASE(the_quota_of_an_unknown_route_is_nothing) {
  running_courier running{nanoseconds{0}};
  std::mutex mutex;
  std::condition_variable changed;
  int answers = 0;
  bool had_value[2] = {true, false};
  for (int i = 0; i < 2; ++i)
    running.sends.ask_quota(route_id{i == 0 ? 99 : 1},
                            [i, &mutex, &changed, &answers, &had_value](const auto& reading) {
                              std::lock_guard lock{mutex};
                              had_value[i] = static_cast<bool>(reading);
                              ++answers;
                              changed.notify_all();
                            });
  std::unique_lock lock{mutex};
  changed.wait_for(lock, seconds{60}, [&answers] { return answers == 2; });
  BOOST_TEST(!had_value[0]);
  BOOST_TEST(had_value[1]);
}

BOOST_AUTO_TEST_SUITE_END()
