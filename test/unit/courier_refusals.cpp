// What the courier makes of a provider's answers before anybody else hears of them.
#include <boost/test/unit_test.hpp>

#include "test/unit/courier_support.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// The outcome of one call that the provider refused for what its stream's messages share.
outcome refused_for_its_stream(bool is_campaign) {
  courier_bench bench;
  auto order = bench.order(1, milliseconds{1});
  auto message = message_to(1, "anna@example.com");
  message->is_campaign = is_campaign;
  order.message = message;
  bench.submit(std::move(order));
  bench.pass(milliseconds{1});
  provider_answer given;
  given.kind = outcome_kind::throttled;
  given.refused = refusal::stream;
  given.reason = reason_code::stream_refused;
  given.diagnostic = "sender not verified";
  bench.provider->calls.at(0).answered(std::move(given));
  bench.pass(milliseconds{10});
  return bench.last();
}

/// A bench whose provider has failed five times in a row.
struct failing_bench : courier_bench {
  failing_bench() {
    for (int id = 1; id <= 5; ++id) {
      submit(order(id, milliseconds{1}));
      pass(milliseconds{1});
      provider_answer failed;
      failed.reason = reason_code::provider_server_error;
      failed.diagnostic = "500 internal failure";
      provider->calls.back().answered(std::move(failed));
    }
    pass(milliseconds{10});
    sink.all.clear();
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(courier_refusals)

BOOST_AUTO_TEST_CASE(what_a_campaign_shares_is_refused_of_all_of_it) {
  const auto heard = refused_for_its_stream(true);
  BOOST_TEST((heard.kind == outcome_kind::throttled));
  BOOST_TEST((heard.refused == refusal::stream));
}

BOOST_AUTO_TEST_CASE(direct_mail_of_that_kind_is_rejected_alone) {
  const auto heard = refused_for_its_stream(false);
  BOOST_TEST((heard.kind == outcome_kind::rejected));
  BOOST_TEST((heard.refused == refusal::this_message));
  BOOST_TEST(heard.diagnostic == "sender not verified");
}

BOOST_AUTO_TEST_CASE(after_five_failures_orders_come_back_with_the_providers_words) {
  failing_bench bench;
  const auto started = bench.provider->started;
  bench.submit(bench.order(6, nanoseconds{0}));
  bench.pass(milliseconds{10});
  BOOST_TEST(bench.provider->started == started);
  BOOST_TEST((bench.last().kind == outcome_kind::not_started));
  BOOST_TEST((bench.last().reason == reason_code::provider_down));
  BOOST_TEST(bench.last().diagnostic == "500 internal failure");
  BOOST_REQUIRE(bench.last().retry_after.has_value());
  BOOST_TEST((*bench.last().retry_after <= seconds{5}));
}

BOOST_AUTO_TEST_CASE(one_message_probes_and_its_acceptance_lets_the_others_go) {
  failing_bench bench;
  const auto started = bench.provider->started;
  bench.pass(seconds{2}); // longer than the first wait
  bench.submit(bench.order(6, nanoseconds{0}));
  bench.submit(bench.order(7, nanoseconds{0}));
  bench.pass(milliseconds{10});
  BOOST_TEST(bench.provider->started == started + 1);
  BOOST_TEST((bench.last().reason == reason_code::provider_down));
  bench.provider->answer(bench.provider->calls.size() - 1, outcome_kind::accepted);
  bench.submit(bench.order(8, nanoseconds{0}));
  bench.pass(milliseconds{10});
  BOOST_TEST(bench.provider->started == started + 2);
}

BOOST_AUTO_TEST_CASE(orders_of_one_slot_are_never_divided_between_passes) {
  struct counting_provider final : provider {
    explicit counting_provider(std::vector<int>& sizes) : sizes_(sizes) {}
    void start(call&, answer_function) override { ++gathered_; }
    void flush() override { sizes_.push_back(std::exchange(gathered_, 0)); }
    void ask_quota(quota_function) override {}
    std::vector<int>& sizes_;
    int gathered_ = 0;
  };
  std::vector<int> sizes;
  courier_bench bench;
  bench.core.add_route(route_id{2}, std::make_unique<counting_provider>(sizes));
  for (int id = 1; id <= 100; ++id) {
    auto order = bench.order(id, milliseconds{1});
    order.route = route_id{2};
    bench.submit(std::move(order));
  }
  bench.pass(milliseconds{1});
  BOOST_TEST(sizes == std::vector<int>{100}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
