#include <boost/test/unit_test.hpp>

#include <random>

#include "test/unit/courier_support.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// Random events in virtual time; `late_` counts the late answers that were reported again.
class random_day {
public:
  explicit random_day(std::uint64_t seed) : random_(seed) {
    bench_.core.set_deadline(shard_id{2}, epoch_id{1}, bench_.loop.now() + seconds{5});
  }

  void play() {
    for (int step = 0; step < 2000; ++step)
      do_something();
    bench_.core.begin_stop();
    bench_.core.finish_stop();
    for (const auto& [message, count] : bench_.sink.count_by_message())
      BOOST_TEST(count == 1u + late_[message]);
    BOOST_TEST(bench_.sink.count_by_message().size() == static_cast<std::size_t>(submitted_));
    check_starts();
  }

private:
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  void do_something() {
    auto shard = shard_id{1 + below(3)};
    auto stream = stream_id{1 + below(3)};
    switch (below(16)) {
    case 0:
      bench_.core.stop_stream(stream);
      break;
    case 1:
    case 2:
      bench_.core.allow_stream(stream);
      break;
    case 3:
      bench_.core.purge(shard, reason_code::node_stopping);
      break;
    case 4:
      if (below(8) == 0)
        bench_.core.refuse_grids(route_id{1}, ++grid_ - 1);
      break;
    case 5:
      bench_.core.set_deadline(shard, epoch_id{++epoch_}, bench_.loop.now() + seconds{below(20)});
      break;
    case 6:
      bench_.provider->asks_at_once = below(4) != 0;
      break;
    case 7:
    case 8:
    case 9:
      answer_one();
      break;
    case 10:
    case 11:
      submit(shard, stream);
      break;
    case 12:
      bench_.loop.pass_to(bench_.loop.now() + milliseconds{below(20)}); // a stall
      break;
    case 13:
      bench_.pass(seconds{below(10)});
      break;
    default:
      bench_.pass(milliseconds{below(20)});
    }
  }

  void submit(shard_id shard, stream_id stream) {
    for (auto n = below(20); n >= 0; --n) {
      auto order = bench_.order(++submitted_, milliseconds{below(100)});
      order.shard = shard;
      order.epoch = epoch_id{below(2) == 0 ? epoch_ : 1};
      order.stream = stream;
      order.grid_number = grid_ - below(2);
      bench_.submit(std::move(order));
    }
  }

  void answer_one() {
    auto& calls = bench_.provider->calls;
    if (calls.empty())
      return;
    auto index = static_cast<std::size_t>(below(static_cast<std::int64_t>(calls.size())));
    auto held = calls[index];
    calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(index));
    auto message = held.what->message().of.message.value();
    auto reported = bench_.sink.count_by_message()[message];
    held.what->may_write();
    auto kind = static_cast<outcome_kind>(below(5));
    bool was_started = held.what->started_at() != database_instant{};
    bench_.pass(milliseconds{6}); // what was gathered leaves
    reported = bench_.sink.count_by_message()[message];
    provider_answer given;
    given.kind = kind;
    held.answered(std::move(given));
    if (reported == 1 && was_started && kind != outcome_kind::unknown)
      ++late_[message];
  }

  void check_starts() {
    for (const auto& one : bench_.sink.all) {
      if (!one.result.started_at)
        continue;
      auto lateness = *one.result.started_at - one.order.slot;
      BOOST_TEST((lateness >= nanoseconds{0}));
      BOOST_TEST((lateness <= one.order.latest - one.order.at));
    }
  }

  courier_bench bench_;
  std::mt19937_64 random_;
  std::int64_t submitted_ = 0, grid_ = 1, epoch_ = 1;
  std::map<std::int64_t, std::size_t> late_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(courier_random)

BOOST_AUTO_TEST_CASE(every_order_has_exactly_one_outcome_whatever_happens) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed)
    random_day{seed}.play();
  }
}

BOOST_AUTO_TEST_SUITE_END()
