#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "test/unit/mail_support.hpp"
#include "transport/mail/header_field.hpp"
#include "transport/mail/header_rules.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

std::string field(const std::string& value, const std::string& name = "Subject") {
  std::string text;
  append_text_field(text, name, value);
  return text;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// What a reader sees: unfolded, decoded.
std::string value_read(const std::string& text) {
  std::string one = text.substr(text.find(':') + 1);
  std::string unfolded;
  for (const char c : one)
    if (c != '\r' && c != '\n')
      unfolded += c;
  return decoded_words(trimmed(unfolded));
}

/// Octets of UTF-8 that are not the first of a character.
bool begins_within_character(const std::string& text) {
  return !text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80;
}

void check_lines(const std::string& text) {
  check_octets(text);
  BOOST_REQUIRE(text.ends_with("\r\n"));
  std::istringstream lines{text};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    line.pop_back();
    BOOST_REQUIRE_MESSAGE(line.find_first_not_of(" \t") != std::string::npos, text);
    if (line.find("=?UTF-8?") != std::string::npos)
      BOOST_TEST(line.size() <= 76u, line);
    for (auto at = line.find("=?UTF-8?"); at != std::string::npos;
         at = line.find("=?UTF-8?", at + 1)) {
      const auto end = std::min(line.find("?=", at + 10), line.size());
      const auto word = line.substr(at, end + 2 - at);
      BOOST_TEST(word.size() <= 75u, word);
      BOOST_TEST(!begins_within_character(decoded_words(word)), word);
    }
    BOOST_TEST((number == 0 || line.front() == ' ' || line.front() == '\t'));
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(mail_headers)

BOOST_AUTO_TEST_CASE(texts_keep_the_rules_of_the_vectors_and_read_as_they_were) {
  const auto vectors = read_vectors("mime/headers-2047.json");
  std::size_t checked = 0, refused = 0;
  for (const auto& one : vectors["encode"].GetArray()) {
    const auto text = text_of(one["text"]);
    const std::string name = one["name"].GetString();
    BOOST_TEST_CONTEXT(name) {
      if (header_value_problem(text)) {
        // Too long for a header (two cases), or a line break or NUL.
        BOOST_TEST((text.size() > 998
                    || text.find_first_of(std::string{"\r\n\0", 3}) != std::string::npos));
        ++refused;
        continue;
      }
      const auto encoded = field(text);
      check_lines(encoded);
      BOOST_TEST(value_read(encoded) == trimmed(text));
      ++checked;
    }
  }
  BOOST_TEST(checked >= 18u);
  BOOST_TEST(refused >= 4u);
}

BOOST_AUTO_TEST_CASE(short_texts_look_as_people_expect_them) {
  BOOST_TEST(field("Hello world") == "Subject: Hello world\r\n");
  BOOST_TEST(field("Gr\xc3\xbc\xc3\x9f"
                   "e")
             == "Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=\r\n");
  BOOST_TEST(field("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe4\xbb\xb6\xe5\x90\x8d")
             == "Subject: =?UTF-8?B?5pel5pys6Kqe44Gu5Lu25ZCN?=\r\n");
  BOOST_TEST(field("\xe6\x97\xa5\xe6\x9c\xac \xe8\xaa\x9e")
             == "Subject: =?UTF-8?B?5pel5pysIOiqng==?=\r\n");
  BOOST_TEST(field("=?UTF-8?Q?not_encoded?=")
             == "Subject: =?UTF-8?Q?=3D=3FUTF-8=3FQ=3Fnot=5Fencoded=3F=3D?=\r\n");
  BOOST_TEST(field("") == "Subject:\r\n");
  BOOST_TEST(field("  ") == "Subject:\r\n");
}

BOOST_AUTO_TEST_CASE(the_reader_of_these_tests_decodes_the_vectors) {
  const auto vectors = read_vectors("mime/headers-2047.json");
  for (const auto& one : vectors["decode"].GetArray())
    BOOST_TEST(decoded_words(text_of(one["encoded"])) == text_of(one["decoded"]));
  const auto parameters = read_vectors("mime/params-2231.json");
  for (const auto& one : parameters["cases"].GetArray())
    BOOST_TEST(parameter_of(text_of(one["header"]), text_of(one["param"]))
               == text_of(one["value"]));
}

BOOST_AUTO_TEST_CASE(folding_is_undone_as_in_the_vectors) {
  const auto vectors = read_vectors("mime/folding-5322.json");
  for (const auto& one : vectors["cases"].GetArray()) {
    if (one["unfolded"].IsNull() || text_of(one["unfolded"]) == "same")
      continue;
    const auto text = text_of(one["unfolded"]);
    const auto colon = text.find(": ");
    const auto name = text.substr(0, colon), value = text.substr(colon + 2);
    const auto encoded = field(value, name);
    check_lines(encoded);
    BOOST_TEST(value_read(encoded) == value);
  }
}

BOOST_AUTO_TEST_CASE(random_texts_read_as_they_were) {
  constexpr const char* bits[] = {"a",
                                  " ",
                                  "  ",
                                  "\t",
                                  "word",
                                  "=?",
                                  "?=",
                                  "=?x?=",
                                  ",",
                                  "\xc3\xbc",
                                  "\xc3\xa9",
                                  "_",
                                  "?",
                                  "=",
                                  "(a)",
                                  "\"",
                                  "\xf0\x9f\x8e\x89",
                                  "\xe6\x97\xa5"};
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    std::mt19937 random{seed};
    std::string text;
    for (auto count = random() % 60; count > 0; --count)
      text += bits[random() % std::size(bits)];
    if (random() % 10 == 0)
      text += std::string(random() % 800, 'x');
    BOOST_TEST_CONTEXT("seed " << seed << " " << text) {
      const auto encoded = field(text, seed % 2 ? "Subject" : std::string(76, 'X'));
      check_octets(encoded);
      BOOST_REQUIRE_EQUAL(value_read(encoded), trimmed(text));
      if (seed % 2)
        check_lines(encoded);
    }
  }
}

BOOST_AUTO_TEST_CASE(mailboxes_look_as_in_the_vectors) {
  /// Where we refuse more.
  const std::map<std::string, std::string> ours{{"quoted-local", ""}};
  std::size_t checked = 0;
  const auto vectors = read_vectors("mime/addresses.json");
  for (const auto& one : vectors["cases"].GetArray()) {
    const std::string name = one["name"].GetString();
    BOOST_TEST_CONTEXT(name) {
      const auto display = text_of(one["display"]), address = text_of(one["address"]);
      const auto given = check_address(address);
      const auto wrong = header_value_problem(display).has_value() || !given.address;
      auto expected = one["header"].IsNull() ? "" : text_of(one["header"]);
      if (const auto other = ours.find(name); other != ours.end())
        expected = other->second;
      BOOST_TEST(wrong == expected.empty());
      if (wrong)
        continue;
      std::string text;
      append_mailbox_field(text, "To", {{display, *given.address}});
      BOOST_TEST(text == "To: " + expected + "\r\n");
      const auto again = check_mailbox(mail_address{display, *given.address}.text());
      BOOST_REQUIRE(again.mailbox.has_value());
      BOOST_TEST(again.mailbox->name == display);
      BOOST_TEST(again.mailbox->address == *given.address);
      ++checked;
    }
  }
  BOOST_TEST(checked == 12u);
}

BOOST_AUTO_TEST_CASE(many_mailboxes_are_folded_between_two) {
  std::vector<mail_address> all;
  for (int i = 0; i < 50; ++i)
    all.push_back({i % 2   ? ""
                   : i % 4 ? "Doe, J\xc3\xb6rg"
                           : "Ann",
                   "someone" + std::to_string(i) + "@example.com"});
  std::string text;
  append_mailbox_field(text, "To", all);
  check_lines(text);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    BOOST_TEST(line.size() <= 78u + 1); // with its CR
}

BOOST_AUTO_TEST_CASE(lists_of_mailboxes_are_read_with_commas_in_names) {
  const auto list = check_mailbox_list("Ann <a@example.com>, \"B, \\\"C\" <b@example.com>,c@d.ef");
  BOOST_TEST(list.problem.empty());
  BOOST_REQUIRE(list.mailboxes.size() == 3u);
  BOOST_TEST(list.mailboxes[1].name == "B, \"C");
  BOOST_TEST(list.mailboxes[2].address == "c@d.ef");
  for (const char* bad : {"", ",", "a@b.c,", "a@b.c, x", "\"a@b.c", "\"\\", "a@b.c b@c.d"})
    BOOST_TEST(!check_mailbox_list(bad).problem.empty(), bad);
}

BOOST_AUTO_TEST_SUITE_END()
