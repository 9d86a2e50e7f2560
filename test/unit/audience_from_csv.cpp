#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "transport/mail/audience_csv.hpp"

using namespace paceline;
using namespace std::string_literals;

namespace {

struct reading {
  std::vector<audience_member> members;
  std::vector<skipped_row> skipped;
  std::string problem; ///< what ended the reading early
  std::int64_t rows = 0;
};

reading read_all(std::istream& input) {
  reading got;
  audience_csv csv{input, [&got](const skipped_row& row) { got.skipped.push_back(row); }};
  while (true) {
    auto next = csv.next();
    if (!next) {
      BOOST_TEST((next.failure().kind == error_kind::invalid));
      got.problem = next.failure().text;
      break;
    }
    if (!*next)
      break;
    got.members.push_back(std::move(**next));
  }
  got.rows = csv.read();
  BOOST_TEST(csv.skipped() == static_cast<std::int64_t>(got.skipped.size()));
  if (got.problem.empty())
    BOOST_TEST(got.rows == static_cast<std::int64_t>(got.members.size() + got.skipped.size()));
  return got;
}

reading read_all(const std::string& text) {
  std::istringstream input{text};
  return read_all(input);
}

std::string utf16(const std::string& ascii, bool little) {
  std::string wide = little ? "\xff\xfe" : "\xfe\xff";
  for (char c : ascii)
    wide += little ? std::string{c, '\0'} : std::string{'\0', c};
  return wide;
}

} // namespace

BOOST_AUTO_TEST_SUITE(audience_from_csv)

BOOST_AUTO_TEST_CASE(rows_become_members_with_their_fields) {
  auto got = read_all("Email,name,city\nAnna@Example.com,Ann\xc3\xa4,K\xc3\xb6ln\nb@b.example,,\n");
  BOOST_TEST(got.problem.empty());
  BOOST_REQUIRE(got.members.size() == 2u);
  BOOST_TEST(got.members[0].recipient == "anna@example.com");
  BOOST_TEST(got.members[0].fields == "{\"name\":\"Ann\xc3\xa4\",\"city\":\"K\xc3\xb6ln\"}");
  BOOST_TEST(got.members[1].fields == "{}");
}

BOOST_AUTO_TEST_CASE(line_ends_and_a_byte_order_mark_make_no_difference) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    for (const char* mark : {"", "\xef\xbb\xbf"}) {
      auto text = mark + "email,name"s + end + "a@a.example,A" + end + end + "b@b.example,B";
      auto got = read_all(text);
      BOOST_TEST(got.problem.empty());
      BOOST_TEST(got.members.size() == 2u);
    }
  }
}

BOOST_AUTO_TEST_CASE(quoted_cells_keep_commas_quotes_and_line_breaks) {
  auto got = read_all("name,email\r\n\"Bell, \"\"Anna\"\"\r\nsecond line\",a@a.example\r\n"
                      "x,nobody\r\n");
  BOOST_REQUIRE(got.members.size() == 1u);
  BOOST_TEST(got.members[0].fields == R"({"name":"Bell, \"Anna\"\u000d\nsecond line"})");
  BOOST_REQUIRE(got.skipped.size() == 1u);
  BOOST_TEST(got.skipped[0].line == 4); // the quoted cell took lines 2 and 3
}

BOOST_AUTO_TEST_CASE(unusable_rows_are_reported_with_their_line_and_skipped) {
  auto got = read_all("email,name\n"
                      "a@a.example,A\n"
                      "nobody,B\n"
                      "A@A.EXAMPLE,again\n"
                      "c@c.example\n"
                      "d@d.example,D,more\n"
                      "\n"
                      "e@e.example,M\xfcller\n"
                      "f@f.example,x\0y\n"
                      "g@g.example,5\" pipe\n"
                      "h@h.example,\"x\"y\n"
                      "i@i.example,I\n"s);
  BOOST_TEST(got.problem.empty());
  BOOST_TEST(got.members.size() == 2u);
  std::vector<std::int64_t> lines;
  for (const auto& row : got.skipped) {
    lines.push_back(row.line);
    BOOST_TEST(!row.why.empty());
  }
  const std::vector<std::int64_t> expected{3, 4, 5, 6, 8};
  BOOST_TEST(std::vector<std::int64_t>(lines.begin(), lines.begin() + 5) == expected,
             boost::test_tools::per_element());
  BOOST_TEST(got.rows == 10);
}

BOOST_AUTO_TEST_CASE(a_stray_quote_costs_only_its_own_row) {
  auto got = read_all("email,name\na@a.example,5\"\" pipe\nb@b.example,5\" pipe\nc@c.example,C\n");
  BOOST_TEST(got.problem.empty());
  BOOST_TEST(got.members.size() == 1u);
  BOOST_TEST(got.skipped.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_row_of_more_than_a_mebibyte_is_skipped) {
  auto got = read_all("email,name\na@a.example,\"" + std::string((1 << 20) + 7, 'x')
                      + "\nstill the same row\"\nb@b.example,B\n");
  BOOST_TEST(got.problem.empty());
  BOOST_REQUIRE(got.members.size() == 1u);
  BOOST_REQUIRE(got.skipped.size() == 1u);
  BOOST_TEST(got.skipped[0].line == 2);
  auto fits = read_all("email,name\na@a.example," + std::string(1'000'000, 'x') + "\n");
  BOOST_TEST(fits.members.size() == 1u);
}

BOOST_AUTO_TEST_CASE(files_without_a_usable_header_are_refused) {
  std::string many = "email";
  for (int i = 0; i < 200; ++i)
    many += ",c" + std::to_string(i);
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "no header"},
      {"\n\n  \n", "no header"},
      {"\xef\xbb\xbf", "no header"},
      {"a@a.example,Anna\n", "no column is named email"},
      {"email;name\na@a.example;A\n", "no column is named email"},
      {"email,name,name\n", "column name occurs twice"},
      {"email,EMAIL\n", "column EMAIL occurs twice"},
      {"email,,name\n", "column 2 has no name"},
      {"email,\"\"\n", "column 2 has no name"},
      {many + "\n", "more than 200 columns"},
      {"email,M\xfcller\n", "not UTF-8"},
      {"email,na\"me\n", "quotes are wrong"},
      {"email,\"name\na@a.example,A\n", "never closed"},
      {"email," + std::string(2 << 20, 'x'), "more than 1 MiB"},
      {utf16("email,name\na@a.example,A\n", true), "UTF-16"},
      {utf16("email,name\na@a.example,A\n", false), "UTF-16"},
      {utf16("email,name\n", true).substr(2), "UTF-16"},
      {"em\0ail\n"s, "UTF-16"},
  };
  for (const auto& [text, problem] : cases) {
    auto got = read_all(text);
    BOOST_TEST(got.members.empty());
    BOOST_TEST(got.problem.find(problem) != std::string::npos, got.problem + " / " + problem);
    BOOST_TEST(got.problem.starts_with("line "));
  }
}

BOOST_AUTO_TEST_CASE(an_unclosed_quote_ends_the_reading_and_names_its_line) {
  auto got = read_all("email,name\na@a.example,A\nb@b.example,\"B\nc@c.example,C\n");
  BOOST_TEST(got.members.size() == 1u);
  BOOST_TEST(got.problem.starts_with("line 3: "));
}

BOOST_AUTO_TEST_CASE(a_file_that_can_not_be_read_on_is_an_error_not_an_end) {
  struct failing_buffer final : std::streambuf {
    std::string text = "email,name\na@a.example,A\n";
    bool is_read = false;
    int_type underflow() override {
      if (is_read)
        throw std::runtime_error("disk");
      is_read = true;
      setg(text.data(), text.data(), text.data() + text.size());
      return traits_type::to_int_type(text.front());
    }
  };
  failing_buffer buffer;
  std::istream input{&buffer};
  auto got = read_all(input);
  BOOST_TEST(!got.problem.empty());
}

BOOST_AUTO_TEST_CASE(blanks_around_cells_are_dropped) {
  auto got = read_all(" email , name \n a@a.example , Anna Bell \n");
  BOOST_REQUIRE(got.members.size() == 1u);
  BOOST_TEST(got.members[0].fields == R"({"name":"Anna Bell"})");
}

BOOST_AUTO_TEST_CASE(the_example_audience_has_three_bad_rows) {
  std::ifstream file{PACELINE_SOURCE_DIR "/docs/examples/newsletter.csv"};
  auto got = read_all(file);
  BOOST_TEST(got.problem.empty());
  BOOST_TEST(got.members.size() == 20u);
  BOOST_TEST(got.skipped.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
