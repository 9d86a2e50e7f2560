/// A limit of N per interval holds in every interval of that length, wherever it begins.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

/// N recipients in `interval`, from so many shards.
struct limited {
  int limit;
  std::chrono::milliseconds interval;
  int shards;
  int recipients;
};

class limited_run {
public:
  explicit limited_run(const limited& how)
      : how_(how), home_({R"(routes."test:sim".target_rate=)" + std::to_string(rate()),
                          R"(routes."test:sim".shards=)" + std::to_string(how.shards)}),
        node_(home_.serve()), campaign_(home_.send(how.recipients)) {}

  void check() {
    node_->wait_until("the campaign finishes", [this] { return home_.is_over(campaign_); });
    BOOST_TEST(home_.sent() == static_cast<std::size_t>(how_.recipients));
    // A start may come so much later than its slot: 5 ms, and a slot's length up to 50 ms.
    const std::chrono::milliseconds late{55};
    BOOST_TEST(most_within(home_.ledger(), how_.interval - late) <= how_.limit,
               how_.limit << " in " << how_.interval.count() << " ms from " << how_.shards);
  }

private:
  double rate() const { return how_.limit / std::chrono::duration<double>(how_.interval).count(); }

  limited how_;
  installation home_;
  std::unique_ptr<served_node> node_;
  std::int64_t campaign_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(intervals)

BOOST_AUTO_TEST_CASE(in_every_interval_at_most_the_limit_is_started) {
  using std::chrono::milliseconds;
  std::vector<std::unique_ptr<limited_run>> runs; // all at once, since they are slow
  for (const auto& how :
       {limited{1, milliseconds{500}, 1, 10}, limited{1, milliseconds{500}, 4, 10},
        limited{5, milliseconds{1000}, 1, 5}, limited{5, milliseconds{1000}, 2, 6}})
    runs.push_back(std::make_unique<limited_run>(how));
  for (auto& run : runs)
    run->check();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
