// What is read at a scrape: statements, listeners, the process, requests to the API.

#include <chrono>
#include <ctime>

#include <boost/test/unit_test.hpp>

#include "actors/node_metrics.hpp"
#include "config/process_figures.hpp"
#include "test/support/read_metrics.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(metrics_node)

BOOST_AUTO_TEST_CASE(statements_of_several_counts_add_up_by_query_name) {
  metrics measured;
  statement_counts first, second;
  auto watch_first = watch_statements(measured, first);
  auto watch_second = watch_statements(measured, second);
  first.add("claim_group", 100ms);
  first.add("claim_group", 400ms, true);
  second.add("claim_group", 500ms);
  second.add("due_streams", 250ms);
  for (int scrape = 0; scrape < 3; ++scrape) { // what was seen is not added again
    auto text = measured.exposition();
    auto statements = series_of(text, "paceline_statements_total");
    auto errors = series_of(text, "paceline_statement_errors_total");
    auto seconds = series_of(text, "paceline_statement_seconds_total");
    BOOST_TEST(statements.at(R"({query="claim_group"})") == 3);
    BOOST_TEST(statements.at(R"({query="due_streams"})") == 1);
    BOOST_TEST(errors.at(R"({query="claim_group"})") == 1);
    BOOST_TEST(errors.size() == 1u);
    BOOST_TEST(seconds.at(R"({query="claim_group"})") == 1.0);
  }
  second.add("claim_group", 1s);
  BOOST_TEST(
      series_of(measured.exposition(), "paceline_statements_total").at(R"({query="claim_group"})")
      == 4);
}

BOOST_AUTO_TEST_CASE(a_pool_shows_its_connections_and_its_queue) {
  metrics measured;
  statement_counts counts;
  database_pool pool{{"host=/nowhere"}, 2, 10, counts};
  pool.stop();
  auto watching = watch_pool(measured, "control", pool);
  auto text = measured.exposition();
  const std::string label = R"({pool="control"})";
  BOOST_TEST(series_of(text, "paceline_database_connections").at(label) == 2);
  BOOST_TEST(series_of(text, "paceline_database_connections_busy").at(label) == 0);
  BOOST_TEST(series_of(text, "paceline_database_queue").at(label) == 0);
}

BOOST_AUTO_TEST_CASE(a_listener_shows_its_counts_under_its_name) {
  metrics measured;
  listener_counts now{3, 2, 100, 4, 5, 6};
  auto watching = watch_listener(measured, "api", [&now] { return now; });
  const std::string label = R"({listener="api"})";
  BOOST_TEST(series_of(measured.exposition(), "paceline_http_requests_total").at(label) == 100);
  now.requests = 150;
  now.connections = 1;
  auto text = measured.exposition();
  BOOST_TEST(series_of(text, "paceline_http_connections").at(label) == 1);
  BOOST_TEST(series_of(text, "paceline_http_threads_busy").at(label) == 2);
  BOOST_TEST(series_of(text, "paceline_http_requests_total").at(label) == 150);
  BOOST_TEST(series_of(text, "paceline_http_refused_connections_total").at(label) == 4);
  BOOST_TEST(series_of(text, "paceline_http_timed_out_total").at(label) == 5);
  BOOST_TEST(series_of(text, "paceline_http_too_large_total").at(label) == 6);
}

BOOST_AUTO_TEST_CASE(requests_are_counted_by_pattern_and_class_of_status) {
  metrics measured;
  auto count = count_api_requests(measured);
  for (int status : {200, 202, 404, 503, 42, 700})
    count("/v1/messages/{id}", status, 2ms);
  auto text = measured.exposition();
  auto requests = series_of(text, "paceline_api_requests_total");
  auto of = [&requests](const std::string& status) {
    return requests.at("{pattern=\"/v1/messages/{id}\",status=\"" + status + "\"}");
  };
  BOOST_TEST(of("2xx") == 2);
  BOOST_TEST(of("4xx") == 1);
  BOOST_TEST(of("5xx") == 1);
  BOOST_TEST(of("other") == 2);
  BOOST_TEST(
      series_of(text, "paceline_api_request_seconds_count").at(R"({pattern="/v1/messages/{id}"})")
      == 6);
}

BOOST_AUTO_TEST_CASE(whoever_asks_for_a_million_paths_gets_no_million_series) {
  metrics measured;
  auto count = count_api_requests(measured);
  for (int i = 0; i < 100'000; ++i)
    count("/" + std::to_string(i), 404, 1ms);
  BOOST_TEST(series_of(measured.exposition(), "paceline_api_requests_total").size()
             == metric_family::max_series);
}

BOOST_AUTO_TEST_CASE(the_kernels_figures_of_this_process_are_plausible) {
  auto figures = read_process_figures();
  BOOST_REQUIRE(figures.has_value());
  BOOST_TEST(figures->resident_bytes > 1'000'000);
  BOOST_TEST(figures->threads >= 1);
  BOOST_TEST(figures->open_descriptors >= 3);
  BOOST_TEST(figures->cpu_seconds >= 0);
  const auto now = static_cast<double>(std::time(nullptr));
  BOOST_TEST(figures->started_at <= now + 2);
  BOOST_TEST(figures->started_at > now - 3600);
}

BOOST_AUTO_TEST_CASE(a_descriptor_more_is_one_more) {
  auto before = read_process_figures();
  std::FILE* opened = std::fopen("/dev/null", "r");
  auto with = read_process_figures();
  std::fclose(opened);
  BOOST_TEST(with->open_descriptors == before->open_descriptors + 1);
}

BOOST_AUTO_TEST_SUITE_END()
