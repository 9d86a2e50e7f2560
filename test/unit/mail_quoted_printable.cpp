#include <boost/test/unit_test.hpp>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "test/unit/mail_support.hpp"
#include "transport/mail/quoted_printable.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// A text in several pieces; those that are known beforehand are encoded on their own.
struct piece {
  std::string text;
  bool is_known = false;
};

std::string encode(const std::vector<piece>& pieces) {
  std::string out;
  quoted_writer writer{out};
  for (const auto& one : pieces)
    one.is_known ? writer.piece(encode_piece(one.text)) : writer.text(one.text);
  writer.finish();
  return out;
}

std::string encode(const std::string& text) {
  return encode({piece{text, false}});
}

void check_lines(const std::string& encoded) {
  check_octets(encoded);
  std::size_t begin = 0;
  while (begin <= encoded.size()) {
    const auto end = std::min(encoded.find("\r\n", begin), encoded.size());
    const auto line = encoded.substr(begin, end - begin);
    BOOST_REQUIRE_MESSAGE(line.size() <= 76, line);
    BOOST_REQUIRE_MESSAGE(!line.ends_with(' ') && !line.ends_with('\t'), line);
    BOOST_REQUIRE_MESSAGE(!line.starts_with('.') && !line.starts_with("From "), line);
    begin = end + 2;
  }
}

std::string random_text(std::mt19937& random) {
  static constexpr std::array<const char*, 28> bits{
      "a",  "word", " ",     "  ",           "\t",           "\n",         "\r\n",
      "\r", ".",    "..",    "From ",        "From",         "F",          "=",
      "==", "=20",  "\xc3",  "\xbc",         "\xf0\x9f\x8e", "\x89",       "\xe6\x97\xa5",
      "{{", "<p>",  "--b--", "\xd7\xa9\xd7", "\xd7\x9c",     "xxxxxxxxxx", "?="};
  std::string text;
  const auto count = random() % 12;
  for (std::size_t i = 0; i < count; ++i)
    text += bits[random() % bits.size()];
  if (random() % 8 == 0)
    text += std::string(random() % 400, random() % 2 ? 'y' : ' ');
  return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(mail_quoted_printable)

BOOST_AUTO_TEST_CASE(texts_come_out_as_in_the_vectors) {
  const auto vectors = read_vectors("mime/bodies.json");
  std::size_t exact = 0;
  for (const auto& one : vectors["cases"].GetArray()) {
    if (!one.HasMember("text"))
      continue;
    const auto text = text_of(one["text"]);
    BOOST_TEST_CONTEXT(one["name"].GetString()) {
      const auto encoded = encode(text);
      check_lines(encoded);
      BOOST_TEST(with_line_feeds(decode_quoted_printable(encoded)) == with_line_feeds(text));
      BOOST_TEST(encoded.find("\r\r\n") == std::string::npos);
      if (!one.HasMember("quoted_printable"))
        continue;
      ++exact;
      BOOST_TEST(encoded == text_of(one["quoted_printable"]));
    }
  }
  BOOST_TEST(exact == 5u);
}

BOOST_AUTO_TEST_CASE(a_text_in_any_pieces_reads_as_the_text_in_one) {
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    std::mt19937 random{seed};
    std::vector<piece> pieces;
    std::string text;
    for (auto count = random() % 9; count > 0; --count) {
      pieces.push_back({random_text(random), random() % 2 == 0});
      text += pieces.back().text;
    }
    BOOST_TEST_CONTEXT("seed " << seed) {
      const auto encoded = encode(pieces);
      check_lines(encoded);
      BOOST_REQUIRE_EQUAL(with_line_feeds(decode_quoted_printable(encoded)), with_line_feeds(text));
    }
  }
}

BOOST_AUTO_TEST_CASE(from_and_dots_are_hidden_where_they_begin_a_line_in_pieces) {
  for (const bool known : {false, true}) {
    BOOST_TEST(encode({{"a\nFr", known}, {"om b\n", known}}) == "a\r\n=46rom b\r\n");
    BOOST_TEST(encode({{"a\n", known}, {".", known}, {"b", known}}) == "a\r\n=2Eb");
    BOOST_TEST(encode({{"a", known}, {"\r", known}, {"\nb", known}}) == "a\r\nb");
    BOOST_TEST(encode({{"a ", known}, {"\n", known}, {" ", known}}) == "a=20\r\n=20");
  }
  BOOST_TEST(encode("For one\nFrome") == "For one\r\nFrome");
}

BOOST_AUTO_TEST_CASE(a_piece_that_does_not_fit_goes_into_the_next_line_as_it_is) {
  const std::string head(70, 'a'), tail(20, 'b');
  BOOST_TEST(encode({{head, false}, {tail, true}}) == head + "=\r\n" + tail);
  BOOST_TEST(encode({{head, false}, {"bbbbb", true}}) == head + "bbbbb");
}

BOOST_AUTO_TEST_SUITE_END()
