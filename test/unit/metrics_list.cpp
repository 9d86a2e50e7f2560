// The list of metrics, and the page that is made from it.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

#include "config/metrics_page.hpp"

using namespace paceline;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

} // namespace

BOOST_AUTO_TEST_SUITE(metrics_list)

BOOST_AUTO_TEST_CASE(the_committed_page_is_current) {
  const std::string path = "docs/metrics.md";
  const char* update = std::getenv("PACELINE_UPDATE_REFERENCE");
  if (update != nullptr && std::string_view{update} == "1")
    std::ofstream{path, std::ios::binary} << render_metrics_page();
  BOOST_TEST((text_of(path) == render_metrics_page()),
             path << " is not current: run the test with PACELINE_UPDATE_REFERENCE=1");
}

BOOST_AUTO_TEST_CASE(every_family_that_is_declared_is_in_the_list) {
  auto header = text_of("config/metric_list.hpp");
  std::set<std::string> declared, listed;
  const std::regex name{"\"((?:paceline|process)_[a-z_]+)\""};
  for (std::sregex_iterator found{header.begin(), header.end(), name}, end; found != end; ++found)
    declared.insert((*found)[1]);
  for (const auto* family : all_metrics())
    BOOST_TEST(listed.insert(std::string{family->name}).second, family->name);
  BOOST_TEST(declared == listed, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(names_have_base_units_and_counters_end_in_total) {
  for (const auto* family : all_metrics()) {
    auto name = family->name;
    BOOST_TEST((name.starts_with("paceline_") || name.starts_with("process_")), name);
    BOOST_TEST(name.ends_with("_total") == (family->type == metric_type::counter), name);
    BOOST_TEST(!std::regex_search(std::string{name}, std::regex{"_(ms|us|ns|kb|mb|percent)(_|$)"}),
               name);
    BOOST_TEST(family->meaning.ends_with('.'), name);
    BOOST_TEST(family->meaning.find('|') == std::string_view::npos, name);
  }
}

BOOST_AUTO_TEST_CASE(histograms_have_rising_buckets_and_nothing_else_has_any) {
  for (const auto* family : all_metrics()) {
    BOOST_TEST(family->buckets.empty() == (family->type != metric_type::histogram), family->name);
    BOOST_TEST(std::ranges::is_sorted(family->buckets), family->name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
