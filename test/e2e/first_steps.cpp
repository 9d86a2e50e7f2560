/// Schema, configuration and audience as they should not be: a clear word, and nothing stored.
#include <boost/test/unit_test.hpp>

#include <future>
#include <string>
#include <vector>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

program_end send_csv(const installation& home, const std::string& csv) {
  return home.run({"send", "--route", "test:sim", "--from", "news@example.com", "--subject", "News",
                   "--text", "Hello", "--csv", home.write("audience.csv", csv)});
}

bool nothing_is_stored(installation& home) {
  return home.holds("NOT EXISTS (SELECT FROM campaigns) AND NOT EXISTS (SELECT FROM messages)"
                    " AND NOT EXISTS (SELECT FROM streams)");
}

std::string with_good_rows(int rows) {
  std::string csv = "email,name\n";
  for (const auto& address : installation::addresses(rows))
    csv += address + ",Anna\n";
  return csv;
}

struct bad_audience {
  std::string what, csv, told;
};

const std::string megabyte((1 << 20) + 1, 'x');

std::vector<bad_audience> bad_audiences() {
  return {
      {"Latin-1 in the header", "email,n\xe4me\na@example.com,x\n", "not UTF-8"},
      {"UTF-16",
       std::string("\xff\xfe"
                   "e\0m\0a\0i\0l\0\n\0",
                   14),
       "UTF-16"},
      {"no header", "anna@example.com,Anna\nben@example.com,Ben\n", "no column is named email"},
      {"an empty file", "", "empty"},
      {"a column twice", "email,name,name\na@example.com,x,y\n", "occurs twice"},
      {"two columns of addresses", "email,Email\na@example.com,b@example.com\n", "occurs twice"},
      {"a NUL in the header", std::string("email,na\0me\na@example.com,x\n", 28), "line 1"},
      {"a header of a megabyte", "email," + megabyte + "\na@example.com,x\n", "1 MiB"},
      {"no good row", "email\nnobody\n", "no usable row"},
      {"a quote that stays open", with_good_rows(3000) + "z@example.com,\"Zoe\n", "never closed"},
  };
}

} // namespace

BOOST_AUTO_TEST_SUITE(first_steps)

BOOST_AUTO_TEST_CASE(two_migrations_at_once_both_succeed_and_apply_each_step_once) {
  installation home{{}, false};
  const auto migrate = [&home] { return home.run({"migrate"}); };
  auto other = std::async(std::launch::async, migrate);
  const auto mine = migrate();
  const auto theirs = other.get();
  BOOST_TEST(mine.status == 0, mine.errors);
  BOOST_TEST(theirs.status == 0, theirs.errors);
  BOOST_TEST(home.ask("SELECT count(*) FROM routes") == "1");
  BOOST_TEST(home.ask("SELECT count(*) FROM shards") == "4");
  auto node = home.serve();
  BOOST_TEST(node->terminate() == 0);
}

BOOST_AUTO_TEST_CASE(a_database_without_schema_is_refused_with_the_way_out) {
  installation home{{}, false};
  for (const auto& command : std::vector<std::vector<std::string>>{{"serve"}, {"status"}}) {
    const auto end = home.run(command);
    BOOST_TEST(end.status == 1);
    BOOST_TEST(end.errors.find("run `paceline migrate` first") != std::string::npos, end.errors);
  }
}

BOOST_AUTO_TEST_CASE(a_bad_configuration_starts_nothing_and_names_all_that_is_wrong) {
  installation home;
  const auto end = home.run({"serve", "--set", "dispatch.max_group=0", "--set",
                             "cluster.margin_ms=900", "--set", "dispatch.interrupted_after_ms=1500",
                             "--set", "simulator.rate=quick", "--set", "dispatch.none=1"});
  BOOST_TEST(end.status == 2);
  for (const char* key : {"dispatch.max_group", "cluster.margin_ms", "simulator.rate",
                          "dispatch.none", "dispatch.interrupted_after_ms"})
    BOOST_TEST(end.errors.find(key) != std::string::npos, key << " is not in " << end.errors);
  BOOST_TEST(home.ask("SELECT count(*) FROM nodes") == "0");
}

BOOST_AUTO_TEST_CASE(an_audience_that_cannot_be_read_stores_nothing) {
  installation home;
  for (const auto& bad : bad_audiences()) {
    const auto end = send_csv(home, bad.csv);
    BOOST_TEST(end.status == 2, bad.what << " gave " << end.status << ": " << end.errors);
    BOOST_TEST(end.errors.find(bad.told) != std::string::npos, bad.what << ": " << end.errors);
    BOOST_TEST(end.errors.size() < 2000u, bad.what);
    BOOST_TEST(nothing_is_stored(home), bad.what);
  }
}

BOOST_AUTO_TEST_CASE(rows_that_cannot_be_used_are_named_and_skipped) {
  installation home;
  const auto end = send_csv(home, "email,name\na@example.com,Anna\nb@example.com,J\xf6rg\n"
                                  "c@example.com,"
                                      + megabyte + "\n" + std::string("d@example.com,D\0n\n", 18)
                                      + "e@example.com\nf@example,F\na@example.com,A\n"
                                        "z@example.com,Z\xc3\xb6"
                                        "e\n");
  BOOST_TEST(end.status == 0, end.errors);
  for (const char* line : {"line 3", "line 4", "line 5", "line 6", "line 8"})
    BOOST_TEST(end.errors.find(line) != std::string::npos, line << " is not in " << end.errors);
  BOOST_TEST(end.errors.size() < 4000u);
  BOOST_TEST(home.ask("SELECT string_agg(recipients[1] || coalesce(fields->>'name', ''), ' '"
                      " ORDER BY ordinal) FROM messages WHERE recipients[1] <> 'f@example'")
             == "a@example.comAnna z@example.comZ\xc3\xb6"
                "e");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
