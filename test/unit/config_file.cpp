#include "test/unit/config_support.hpp"

#include <cstdlib>
#include <iterator>

#include "config/options.hpp"
#include "config/reference.hpp"

using namespace paceline;
using namespace paceline::config_test;

namespace {

constexpr std::size_t mebibyte = 1024 * 1024;

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

/// Compares, or writes the file where that was asked for.
void require_current(const std::string& path, const std::string& rendered) {
  const char* update = std::getenv("PACELINE_UPDATE_REFERENCE");
  if (update != nullptr && std::string_view{update} == "1")
    std::ofstream{path, std::ios::binary} << rendered;
  BOOST_TEST((content_of(path) == rendered),
             path << " is not current: run the test with PACELINE_UPDATE_REFERENCE=1");
}

/// The example with every default that stands there as a comment switched on.
std::string with_all_defaults(const std::string& example) {
  std::string out = example;
  for (std::size_t at = 0; (at = out.find("\n#", at)) != std::string::npos; ++at)
    if (out[at + 2] != ' ')
      out.erase(at + 1, 1);
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(config_file)

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  auto result = load_settings({"/nonexistent/paceline.toml", {}, {}});
  auto& errors = std::get<std::vector<config_error>>(result);
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(contains(errors.front().text(), "/nonexistent/paceline.toml"));
}

BOOST_AUTO_TEST_CASE(a_folder_is_not_a_file) {
  auto result = load_settings({"/", {}, {}});
  BOOST_TEST(std::get<std::vector<config_error>>(result).size() == 1);
}

BOOST_AUTO_TEST_CASE(bad_toml_is_reported_with_its_line_beside_other_errors) {
  auto errors = errors_of("[log]\nlevel = info\n", {{"PACELINE_NODE__DRAIN_TIMEOUT_MS", "-1"}});
  BOOST_REQUIRE(errors.size() == 2);
  BOOST_TEST(errors[0].source.ends_with(":2"));
  BOOST_TEST(errors[1].key == "node.drain_timeout_ms");
}

BOOST_AUTO_TEST_CASE(a_broken_secret_is_not_repeated) {
  for (const char* line :
       {"dsn = postgresql://u:hunter2@h", "dsn = \"postgresql://u:hunter2@h", "dsn = hunter2",
        "dsn = \"a\" hunter2", "dsn = \"a\"\ndsn = \"hunter2\"", "direct_dsn = ['hunter2']",
        "dsn = ['password=hunter2']", "dsn = \"password=hunter2 \\u0000\""}) {
    auto errors = errors_of("[database]\n" + std::string{line} + "\n");
    BOOST_TEST(!errors.empty());
    for (const auto& each : errors)
      BOOST_TEST(!contains(each.text(), "hunter2"), each.text());
  }
}

BOOST_AUTO_TEST_CASE(other_encodings_are_reported_with_their_line) {
  auto latin1 = errors_of("# one\n[node]\nname = \"J\xF6rg\"\n");
  BOOST_REQUIRE(latin1.size() == 1);
  BOOST_TEST(latin1.front().source.ends_with(":3"));
  BOOST_TEST(contains(latin1.front().advice, "UTF-8"));
  BOOST_TEST(errors_of(std::string_view{"\xFF\xFE[\0n\0", 6}).size() == 1);
  BOOST_TEST(errors_of("a = \"\xED\xA0\x80\"").size() == 1);       // a surrogate
  BOOST_TEST(loaded("\xEF\xBB\xBF" + minimal).routes.size() == 1); // a byte order mark is fine
}

BOOST_AUTO_TEST_CASE(a_nul_is_reported_with_its_line) {
  auto errors = errors_of(minimal + std::string{"#\0\n", 3});
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(errors.front().source.ends_with(":6"));
  BOOST_TEST(contains(errors.front().advice, "NUL"));
}

BOOST_AUTO_TEST_CASE(one_mebibyte_is_read_and_one_octet_more_is_not) {
  auto text = minimal + "#";
  text.resize(mebibyte, 'x');
  BOOST_TEST(errors_of(text).empty());
  auto errors = errors_of(text + "x");
  BOOST_REQUIRE(errors.size() == 1);
  BOOST_TEST(contains(errors.front().advice, "1 MiB"));
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_an_error_and_not_a_crash) {
  std::string dots = "[a";
  while (dots.size() < mebibyte - 2)
    dots += ".a";
  BOOST_TEST(errors_of(dots + "]").size() == 1);
  BOOST_TEST(!errors_of(dots.substr(0, 39'000) + "]\nb=1\n").empty());
  BOOST_TEST(errors_of("a = " + std::string(500'000, '[')).size() == 1);
}

BOOST_AUTO_TEST_CASE(a_file_full_of_unknown_keys_reports_each) {
  std::string text = minimal + "[dispatch]\n";
  for (int i = 0; i < 5000; ++i)
    text += "brake_" + std::to_string(i) + " = 1\n";
  BOOST_TEST(errors_of(text).size() == 5000);
}

BOOST_AUTO_TEST_CASE(the_committed_example_is_current) {
  require_current("config/paceline.example.toml", render_example());
}

BOOST_AUTO_TEST_CASE(the_committed_reference_is_current) {
  require_current("docs/configuration.md", render_reference());
}

BOOST_AUTO_TEST_CASE(the_example_loads_as_it_is) {
  auto s = loaded(render_example());
  BOOST_TEST(s.routes.size() == 1);
  BOOST_TEST(s.warnings.empty());
}

BOOST_AUTO_TEST_CASE(the_defaults_in_the_example_are_the_defaults) {
  auto plain = loaded(render_example());
  auto full = loaded(with_all_defaults(render_example()));
  BOOST_REQUIRE(plain.rows.size() == all_options().size());
  for (std::size_t i = 0; i < plain.rows.size(); ++i) {
    BOOST_TEST(full.rows[i].source != "default", full.rows[i].key);
    // The file says 1.0 where the table says 1.0: compared as shown, but as numbers.
    if (plain.rows[i].key != "routes.test:sim.rate_factor")
      BOOST_TEST(plain.rows[i].value == full.rows[i].value, plain.rows[i].key);
  }
}

BOOST_AUTO_TEST_CASE(the_reference_names_every_option) {
  auto text = render_reference();
  for (const auto& each : all_options())
    BOOST_TEST(contains(text, "### `" + std::string{each.key} + "`"), each.key);
}

BOOST_AUTO_TEST_SUITE_END()
