#include "test/unit/config_support.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>
#include <thread>

#include "config/logging.hpp"
#include "config/text.hpp"

using namespace paceline;
using namespace paceline::config_test;

namespace {

/// A logger that writes into a file of its own.
class captured {
public:
  explicit captured(log_format format, log_level minimum = log_level::info)
      : file_(std::tmpfile()), log(minimum, format, ::fileno(file_)) {}
  ~captured() { std::fclose(file_); }

  std::vector<std::string> lines() const {
    std::rewind(file_);
    std::string text;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_))
      text += static_cast<char>(c);
    std::istringstream in{text};
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);)
      out.push_back(line);
    return out;
  }

private:
  std::FILE* file_;

public:
  logger log;
};

/// A JSON line without its time.
std::string after_time(const std::string& line) {
  return line.substr(line.find("\"level\""));
}

} // namespace

BOOST_AUTO_TEST_SUITE(config_logging)

BOOST_AUTO_TEST_CASE(an_event_is_one_json_line_with_its_fields_at_top_level) {
  captured out{log_format::automatic}; // a file is no terminal
  std::string shard = "test:sim:0/4";
  out.log.event(log_level::info, "DISPATCH_RUN",
                {{"shard", shard}, {"claimed", 24}, {"rate", 21.5}, {"braked", false}});
  auto lines = out.lines();
  BOOST_REQUIRE(lines.size() == 1);
  BOOST_TEST(lines[0].starts_with("{\"time\":\"20"));
  BOOST_TEST(contains(lines[0], "Z\",\"level\""));
  BOOST_TEST(after_time(lines[0])
             == "\"level\":\"info\",\"message\":\"DISPATCH_RUN\",\"event\":\"DISPATCH_RUN\","
                "\"shard\":\"test:sim:0/4\",\"claimed\":24,\"rate\":21.5,\"braked\":false}");
}

BOOST_AUTO_TEST_CASE(an_event_takes_fields_that_were_collected) {
  captured out{log_format::json};
  std::vector<log_field> fields{{"epoch", 7}};
  out.log.event(log_level::warn, "SHARD_PLACED", fields);
  BOOST_TEST(after_time(out.lines().at(0))
             == "\"level\":\"warn\",\"message\":\"SHARD_PLACED\",\"event\":\"SHARD_PLACED\","
                "\"epoch\":7}");
}

BOOST_AUTO_TEST_CASE(json_text_is_escaped) {
  BOOST_TEST(json_string("a\"b\\c") == "\"a\\\"b\\\\c\"");
  BOOST_TEST(json_string(std::string_view{"\0\n\r\t\x1b\x7f", 6})
             == "\"\\u0000\\n\\u000d\\u0009\\u001b\\u007f\"");
  BOOST_TEST(json_string("Zo\xC3\xAB \xF0\x9F\x98\x80") == "\"Zo\xC3\xAB \xF0\x9F\x98\x80\"");
  BOOST_TEST(json_string("a\xFF"
                         "b\xC3")
             == "\"a\xEF\xBF\xBD"
                "b\xEF\xBF\xBD\"");
}

BOOST_AUTO_TEST_CASE(hostile_text_stays_within_its_line) {
  captured out{log_format::json};
  out.log.info("a\nb {} %v \"", {{"k\n", "\x1b[2J\xC2\x9B"}, {"level", "x"}});
  BOOST_REQUIRE(out.lines().size() == 1);
  BOOST_TEST(after_time(out.lines()[0])
             == "\"level\":\"info\",\"message\":\"a\\nb {} %v \\\"\",\"k\\n\":"
                "\"\\u001b[2J\\u009b\",\"level_\":\"x\"}");
  captured human{log_format::human};
  human.log.info("a\nb\x1b[2J", {{"k", "x\ny z"}});
  BOOST_REQUIRE(human.lines().size() == 1);
  BOOST_TEST(contains(human.lines()[0], "info  a\\nb\\x1b[2J k=\"x\\ny z\""));
}

BOOST_AUTO_TEST_CASE(numbers_that_json_lacks_are_null_or_the_largest) {
  captured out{log_format::json};
  out.log.info("m", {{"a", std::nan("")},
                     {"b", std::numeric_limits<double>::infinity()},
                     {"c", std::numeric_limits<std::uint64_t>::max()},
                     {"d", std::numeric_limits<std::int64_t>::min()},
                     {"e", 1e308}});
  BOOST_TEST(contains(out.lines().at(0), "\"a\":null,\"b\":null,\"c\":9223372036854775807,"
                                         "\"d\":-9223372036854775808,\"e\":1e+308}"));
}

BOOST_AUTO_TEST_CASE(lines_below_the_level_are_dropped) {
  captured out{log_format::json, log_level::warn};
  out.log.info("no");
  out.log.debug("no");
  out.log.event(log_level::info, "NO");
  out.log.warn("yes");
  out.log.error("yes");
  BOOST_TEST(out.lines().size() == 2);
  BOOST_TEST(!out.log.is_enabled(log_level::info));
  BOOST_TEST(out.log.is_enabled(log_level::warn));
}

BOOST_AUTO_TEST_CASE(a_file_gets_no_colours) {
  captured out{log_format::human};
  out.log.error("boom", {{"n", 1}});
  BOOST_TEST(!contains(out.lines().at(0), "\x1b"));
  BOOST_TEST(contains(out.lines().at(0), "error boom n=1"));
}

BOOST_AUTO_TEST_CASE(lines_of_several_threads_do_not_mix) {
  captured out{log_format::json};
  auto work = [&log = out.log] {
    for (int i = 0; i < 200; ++i)
      log.info(std::string(300, 'x'));
  };
  { std::jthread one{work}, two{work}; }
  auto lines = out.lines();
  BOOST_TEST(lines.size() == 400);
  for (const auto& line : lines)
    BOOST_REQUIRE((line.starts_with("{\"time\"") && line.ends_with("x\"}")));
}

BOOST_AUTO_TEST_CASE(a_line_that_cannot_be_written_is_dropped) {
  logger log{log_level::info, log_format::json, -1};
  log.error("nobody hears");
  BOOST_TEST(log.is_enabled(log_level::error));
}

BOOST_AUTO_TEST_CASE(an_address_shows_its_first_character_and_domain) {
  BOOST_TEST(mask_address("anna@example.com") == "a***@example.com");
  BOOST_TEST(mask_address("\xC3\xA4nna@example.com") == "\xC3\xA4***@example.com");
  BOOST_TEST(mask_address("\xC3@example.com") == "***@example.com");
  BOOST_TEST(mask_address("@example.com") == "***@example.com");
  BOOST_TEST(mask_address("\"a@b\"@example.com") == "\"***@example.com");
  BOOST_TEST(mask_address("anna") == "***");
  BOOST_TEST(mask_address("") == "***");
  BOOST_TEST(mask_address("@") == "***@");
}

BOOST_AUTO_TEST_CASE(a_connection_string_shows_no_password) {
  BOOST_TEST(mask_dsn("host=h user=u password=pw dbname=d")
             == "host=h user=u password=*** dbname=d");
  BOOST_TEST(mask_dsn("password = 'p w\\' x' host=h") == "password=*** host=h");
  BOOST_TEST(mask_dsn("sslpassword=pw passfile=/f") == "sslpassword=*** passfile=/f");
  BOOST_TEST(mask_dsn("password=p\\ w host=h") == "password=*** host=h");
  BOOST_TEST(mask_dsn("postgresql://u:pw@h:5432/d?sslmode=require")
             == "postgresql://u:***@h:5432/d?sslmode=require");
  BOOST_TEST(mask_dsn("postgres://u@h/d") == "postgres://u@h/d");
  BOOST_TEST(mask_dsn("postgresql:///d?host=/tmp&password=pw&x=1")
             == "postgresql:///d?host=/tmp&password=***&x=1");
  BOOST_TEST(mask_dsn("postgresql:///d?pa%73sword=pw") == "postgresql:///d?pa%73sword=***");
}

BOOST_AUTO_TEST_CASE(an_odd_connection_string_shows_no_password_either) {
  for (const char* dsn :
       {"hunter2", "password='hunter2", "password hunter2", "password=x hunter2",
        "postgresql://u:hun/ter2@h", "postgresql://u:x?hunter2@h", "postgresql://u:x@hunter2@h",
        "postgresql://u:hunter2@h@x", "POSTGRESQL://u:hunter2@h", "http://u:hunter2@h?a=b"})
    BOOST_TEST(!contains(mask_dsn(dsn), "ter2"), mask_dsn(dsn));
  BOOST_TEST(mask_dsn("") == "");
}

BOOST_AUTO_TEST_CASE(rows_of_the_check_mask_both_connection_strings) {
  auto s = loaded(minimal, {{"PACELINE_DATABASE__DSN", "postgresql://u:hunter2@h/d"}});
  BOOST_TEST(s.database.dsn == "postgresql://u:hunter2@h/d");
  BOOST_TEST(s.rows.at(0).value == "postgresql://u:***@h/d");
  for (const auto& row : s.rows)
    BOOST_TEST(!contains(row.value, "hunter2"), row.key);
}

BOOST_AUTO_TEST_SUITE_END()
