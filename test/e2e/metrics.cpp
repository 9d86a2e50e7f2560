// After a campaign of N messages the node's own numbers say N, as Prometheus would read them.

#include <boost/test/unit_test.hpp>

#include <httplib.h>

#include <algorithm>

#include "test/support/installation.hpp"
#include "test/support/read_metrics.hpp"

namespace paceline::test {
namespace {

std::string scrape(int port) {
  httplib::Client client{"127.0.0.1", port};
  auto answer = client.Get("/metrics");
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->status == 200);
  BOOST_TEST(answer->get_header_value("Content-Type").starts_with("text/plain; version=0.0.4"));
  return answer->body;
}

double messages(const std::string& text, const std::string& outcome) {
  return series_of(text, "paceline_messages_total")
      .at("{outcome=\"" + outcome + "\",route=\"test:sim\"}");
}

} // namespace

BOOST_AUTO_TEST_SUITE(metrics)

BOOST_AUTO_TEST_CASE(after_a_campaign_the_counters_say_what_the_database_says) {
  installation home;
  auto node = home.serve();
  const int port = node->port_of("admin");
  auto recipients = installation::addresses(100);
  for (int i = 0; i < 7; ++i)
    recipients.push_back("reject+" + std::to_string(i) + "@simulator.paceline.test");
  for (int i = 0; i < 3; ++i)
    recipients.push_back("error+" + std::to_string(i) + "@simulator.paceline.test");
  const auto campaign = home.send(recipients);
  node->wait_until("the campaign is over", [&home, campaign] { return home.is_over(campaign); });
  // The database has the last outcome a moment before the recorder hears that it does.
  node->wait_until("all outcomes are known to be stored", [port] {
    return series_of(scrape(port), "paceline_outcomes_waiting").at("") == 0;
  });

  const auto text = scrape(port);
  const std::string route = R"({route="test:sim"})";
  BOOST_TEST(messages(text, "accepted") == 100);
  BOOST_TEST(messages(text, "rejected") == 7);
  BOOST_TEST(messages(text, "unknown") == 3);
  BOOST_TEST(series_of(text, "paceline_slots_used_total").at(route) == 110);
  BOOST_TEST(series_of(text, "paceline_calls_in_flight").at(route) == 0);
  BOOST_TEST(series_of(text, "paceline_shards_owned").at(route) == 4);
  BOOST_TEST(series_of(text, "paceline_target_rate").at(route) == 200);
  BOOST_TEST(series_of(text, "paceline_statements_total").at(R"({query="claim_group"})") > 0);
  BOOST_TEST(series_of(text, "paceline_statements_total").at(R"({query="record_outcomes"})") > 0);
  BOOST_TEST(series_of(text, "paceline_database_connections").at(R"({pool="shard"})") >= 4);
  BOOST_TEST(series_of(text, "process_resident_memory_bytes").at("") > 1e6);
}

BOOST_AUTO_TEST_CASE(a_node_with_work_has_a_bounded_number_of_series_and_no_address_in_any) {
  installation home;
  auto node = home.serve();
  const int port = node->port_of("admin");
  const auto campaign = home.send(200);
  node->wait_until("the campaign is over", [&home, campaign] { return home.is_over(campaign); });
  const auto text = scrape(port);
  BOOST_TEST(std::ranges::count(text, '\n') < 1000);
  BOOST_TEST(text.find('@') == std::string::npos);
  BOOST_TEST(text.find("example.com") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
