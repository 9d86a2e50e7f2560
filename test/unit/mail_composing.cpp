#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "config/text.hpp"
#include "test/unit/mail_support.hpp"
#include "transport/mail/message_head.hpp"
#include "transport/mail/template.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// Octets of all kinds, for attachments.
std::string all_octets(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += static_cast<char>(i * 7 + i / 256);
  return text;
}

/// A text of a template or a value with what mail is known to break.
std::string random_text(std::mt19937& random, bool with_breaks) {
  static constexpr std::array<const char*, 20> bits{
      "word", " ",  "  ", ".",       "From ",    "=", "\t", "\xc3\xbc", "\xf0\x9f\x8e\x89",
      "<b>",  "&",  "--", "--=_a--", "\xd7\xa9", "(", ")",  "\n",       "\r\n",
      "\n\n", "\n."};
  std::string text;
  for (auto count = random() % 14; count > 0; --count)
    text += bits[random() % (with_breaks ? bits.size() : 16)];
  if (random() % 6 == 0)
    text += std::string(random() % 300, 'x');
  return text;
}

std::string random_template(std::mt19937& random) {
  static constexpr std::array<const char*, 9> tags{
      "{{a}}",       "{{{b}}}",           "{{&a}}", "{{#a}}", "{{^c}}", "{{c}}",
      "{{! note }}", "{{#l}}{{.}}{{/l}}", "{{b}}"};
  std::string text, open;
  for (auto count = random() % 10; count > 0; --count) {
    text += random_text(random, true);
    const std::string tag = tags[random() % tags.size()];
    text += tag;
    if (tag == "{{#a}}" || tag == "{{^c}}")
      text += random_text(random, true) + (random() % 2 ? "\n" : "") + "{{/" + tag[3] + "}}";
    if (random() % 2)
      text += "\n";
  }
  return text + random_text(random, true);
}

/// A message of one part ends with a line break of its own.
std::string as_sent(const std::string& text) {
  auto lines = with_line_feeds(text);
  return lines.ends_with('\n') ? lines : lines + '\n';
}

} // namespace

BOOST_AUTO_TEST_SUITE(mail_composing)

BOOST_AUTO_TEST_CASE(a_plain_message_has_all_that_a_reader_needs) {
  auto what = plain_content();
  what.sender = "Example News <news@example.com>";
  what.subject = "Hello {{name}}";
  what.text_body = "Dear {{name}},\ntoday";
  what.headers = R"({"X-Campaign":"spring {{name}}","X-Empty":"{{nobody}}"})";
  const auto message = compose_mail(what, row_for({"anna@example.org"}, R"({"name":"Anna"})"));
  BOOST_TEST(message.raw
             == "From: Example News <news@example.com>\r\n"
                "To: anna@example.org\r\n"
                "Subject: Hello Anna\r\n"
                "X-Campaign: spring Anna\r\n"
                "Date: Mon, 30 Nov 2026 00:53:20 +0000\r\n"
                "Message-ID: <7001.2@example.com>\r\n"
                "MIME-Version: 1.0\r\n"
                "Content-Type: text/plain; charset=utf-8\r\n"
                "Content-Transfer-Encoding: quoted-printable\r\n"
                "\r\n"
                "Dear Anna,\r\ntoday\r\n");
  BOOST_TEST(message.raw_tail == nullptr);
  BOOST_TEST((message.of == attempt{message_id{7001}, 2}));
  BOOST_TEST(message.sender.ends_with("<news@example.com>"));
  BOOST_TEST(message.recipients == std::vector<std::string>{"anna@example.org"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(dates_are_those_of_the_calendar) {
  BOOST_TEST(mail_date(0) == "Thu, 01 Jan 1970 00:00:00 +0000");
  BOOST_TEST(mail_date(1'709'210'096) == "Thu, 29 Feb 2024 12:34:56 +0000");
  BOOST_TEST(mail_date(4'102'444'799) == "Thu, 31 Dec 2099 23:59:59 +0000");
}

BOOST_AUTO_TEST_CASE(parts_are_nested_so_that_readers_find_the_best_one_last) {
  auto what = plain_content();
  what.html_body = "<img src=\"cid:logo@x\">";
  const attachment logo{"logo.png", "image/png", "logo@x", all_octets(300)};
  const attachment report{"report.pdf", "application/pdf", "", all_octets(1000)};
  what.attachments = {report, logo};
  const auto message = compose_mail(what, row_for({"a@b.cd"}));
  check_octets(whole_text(message));
  BOOST_REQUIRE(message.raw_tail != nullptr);
  const auto read = read_message(whole_text(message));
  BOOST_REQUIRE(read.parts.size() == 4u);
  BOOST_TEST(read.parts[0].type == "text/plain");
  BOOST_TEST(read.parts[0].inside == "mixed/alternative");
  BOOST_TEST(read.parts[0].octets == "Text");
  BOOST_TEST(read.parts[1].type == "text/html");
  BOOST_TEST(read.parts[1].inside == "mixed/alternative/related");
  BOOST_TEST(read.parts[1].octets == what.html_body);
  BOOST_TEST(read.parts[2].inside == "mixed/alternative/related");
  BOOST_TEST(read.parts[2].content_id == "logo@x");
  BOOST_TEST(read.parts[2].disposition == "inline");
  BOOST_TEST((read.parts[2].octets == logo.data));
  BOOST_TEST(read.parts[3].inside == "mixed");
  BOOST_TEST(read.parts[3].disposition == "attachment");
  BOOST_TEST(read.parts[3].file_name == "report.pdf");
  BOOST_TEST((read.parts[3].octets == report.data));
}

BOOST_AUTO_TEST_CASE(levels_that_would_hold_one_part_are_left_out) {
  const attachment logo{"logo.png", "image/png", "logo", "x"}, file{"a.txt", "text/plain", "", "y"};
  const auto paths = [](std::string text, std::string html, std::vector<attachment> attached) {
    auto what = plain_content();
    what.text_body = std::move(text);
    what.html_body = std::move(html);
    what.attachments = std::move(attached);
    std::string all;
    const auto message = whole_text(compose_mail(what, row_for({"a@b.cd"})));
    for (const auto& part : read_message(message).parts)
      all += part.inside + ":" + part.type + " ";
    return all;
  };
  BOOST_TEST(paths("t", "", {}) == ":text/plain ");
  BOOST_TEST(paths("", "h", {}) == ":text/html ");
  BOOST_TEST(paths("", "", {}) == ":text/plain ");
  BOOST_TEST(paths("t", "h", {}) == "alternative:text/plain alternative:text/html ");
  BOOST_TEST(paths("", "h", {logo}) == "related:text/html related:image/png ");
  BOOST_TEST(paths("", "h", {file}) == "mixed:text/html mixed:text/plain ");
  // Without HTML nothing shows an inline image: it becomes a plain attachment.
  BOOST_TEST(paths("t", "", {logo}) == "mixed:text/plain mixed:image/png ");
}

BOOST_AUTO_TEST_CASE(all_messages_of_a_content_share_what_comes_last) {
  auto what = plain_content();
  what.subject = "{{name}}";
  what.attachments = {{"a.bin", "application/octet-stream", "", all_octets(100'000)}};
  const auto composer = mail_composer::compile(what, {});
  BOOST_REQUIRE(composer);
  const auto row = row_for({"a@b.cd"}, R"({"name":"x"})");
  const auto one = composer->compose({row, 0, nullptr, ""}),
             two = composer->compose({row, 9, nullptr, ""});
  BOOST_REQUIRE((one && two));
  BOOST_TEST(one->raw_tail == two->raw_tail);
  BOOST_TEST(one->raw.size() < 1000u);
  BOOST_TEST(composer->memory() > 130'000u);
  const auto size = static_cast<double>(composer->typical_size());
  BOOST_TEST(size > 0.9 * static_cast<double>(one->raw_size()));
  BOOST_TEST(size < 1.1 * static_cast<double>(one->raw_size()));
}

BOOST_AUTO_TEST_CASE(bodies_are_what_the_template_makes_of_them) {
  for (unsigned seed = 1; seed <= 1500; ++seed) {
    std::mt19937 random{seed};
    auto what = plain_content();
    what.text_body = random_template(random);
    what.html_body = random() % 2 ? random_template(random) : "";
    const auto a = random_text(random, true), b = random_text(random, true);
    const auto fields = "{\"a\":" + json_string(a) + ",\"b\":" + json_string(b) + ",\"l\":["
                        + json_string(random_text(random, true)) + ",\"y\"]}";
    BOOST_TEST_CONTEXT("seed " << seed) {
      const auto plain = mail_template::compile(what);
      BOOST_REQUIRE_MESSAGE(static_cast<bool>(plain), (plain ? "" : plain.failure().text));
      const auto expected = plain->render(fields);
      BOOST_REQUIRE(expected);
      const auto message = compose_mail(what, row_for({"a@b.cd"}, fields));
      check_octets(message.raw);
      const auto read = read_message(message.raw);
      if (what.html_body.empty() || what.text_body.empty()) {
        BOOST_REQUIRE(read.parts.size() == 1u);
        BOOST_REQUIRE_EQUAL(
            as_sent(read.parts[0].octets),
            as_sent(what.html_body.empty() ? expected->text_body : expected->html_body));
        continue;
      }
      BOOST_REQUIRE(read.parts.size() == 2u);
      BOOST_REQUIRE_EQUAL(with_line_feeds(read.parts[0].octets),
                          with_line_feeds(expected->text_body));
      BOOST_REQUIRE_EQUAL(with_line_feeds(read.parts[1].octets),
                          with_line_feeds(expected->html_body));
    }
  }
}

BOOST_AUTO_TEST_CASE(recipients_are_named_as_given_and_blind_copies_never) {
  auto what = plain_content();
  auto row = row_for({"a@b.cd", "c@d.ef", "hidden@d.ef"});
  row.addresses = R"({"to":["\"Ann, the first\" <A@b.cd>"],"cc":["c@d.ef"],"bcc":["hidden@d.ef"]})";
  const auto read = read_message(compose_mail(what, row).raw);
  BOOST_TEST(read.header("To") == "\"Ann, the first\" <A@b.cd>");
  BOOST_TEST(read.header("Cc") == "c@d.ef");
  BOOST_TEST(read.count("Bcc") == 0u);
  BOOST_TEST(compose_mail(what, row).raw.find("hidden") == std::string::npos);
  BOOST_TEST(compose_mail(what, row_for({"a@b.cd", "c@d.ef"})).raw.find("To: a@b.cd, c@d.ef\r\n")
             != std::string::npos);
  row.addresses = R"({"cc":["c@d.ef"]})";
  BOOST_TEST(read_message(compose_mail(what, row).raw).header("To") == "undisclosed-recipients:;");
}

BOOST_AUTO_TEST_CASE(blind_copies_alone_stay_blind) {
  auto row = row_for({"hidden@d.ef", "other@d.ef"});
  row.addresses = R"({"to":[],"bcc":["hidden@d.ef","other@d.ef"]})";
  const auto raw = compose_mail(plain_content(), row).raw;
  BOOST_TEST(raw.find("@d.ef") == std::string::npos);
  BOOST_TEST(raw.find("To: undisclosed-recipients:;\r\n") != std::string::npos);
  const auto parts = compose_mail(plain_content(), row, mail_form::parts);
  BOOST_TEST(parts.to.empty());
}

BOOST_AUTO_TEST_CASE(providers_that_build_messages_get_the_parts_as_they_are) {
  auto what = plain_content();
  what.subject = "Gr\xc3\xbc\xc3\x9f"
                 "e {{name}}";
  what.html_body = "<p>{{name}}</p>";
  what.headers = R"({"X-A":"{{name}}","Reply-To":"r@b.cd"})";
  what.attachments = {{"a.txt", "text/plain", "", "abc"}};
  auto row = row_for({"a@b.cd"}, R"({"name":"<Z>"})");
  row.addresses = R"({"to":["Ann <a@b.cd>"],"cc":["c@b.cd"]})";
  row.tags = R"({"kind":"spring"})";
  const auto made = compose_mail(what, row, mail_form::parts);
  BOOST_TEST(made.subject
             == "Gr\xc3\xbc\xc3\x9f"
                "e <Z>");
  BOOST_TEST(made.text_body == "Text");
  BOOST_TEST(made.html_body == "<p>&lt;Z&gt;</p>");
  BOOST_TEST(made.to.at(0) == "\"Ann\" <a@b.cd>");
  BOOST_TEST(made.cc.at(0) == "c@b.cd");
  BOOST_TEST(made.headers.size() == 2u);
  BOOST_TEST(made.headers.at(0).second == "<Z>");
  BOOST_TEST(made.tags.at(0).second == "spring");
  BOOST_REQUIRE(made.attachments != nullptr);
  BOOST_TEST(made.attachments->at(0).data == "abc");
  BOOST_TEST(made.raw.empty());
  BOOST_TEST(made.raw_tail == nullptr);
}

BOOST_AUTO_TEST_CASE(what_a_row_holds_wrongly_is_an_error_that_names_it) {
  const auto what = plain_content();
  auto row = row_for({"a@b.cd"});
  row.addresses = R"({"to":["x"]})";
  BOOST_TEST(compose_failure(what, row).starts_with("to: "));
  row.addresses = R"({"cc":"a@b.cd"})";
  BOOST_TEST(compose_failure(what, row).starts_with("cc: "));
  row.addresses = "[]";
  BOOST_TEST(compose_failure(what, row).starts_with("addresses: "));
  row.addresses.reset();
  row.tags = R"({"a":1})";
  BOOST_TEST(compose_failure(what, row).starts_with("tags: "));
  row.tags.reset();
  row.fields = "[]";
  BOOST_TEST(compose_failure(what, row).starts_with("fields "));
  for (const char* bad : {"m\xc3\xbcller@b.cd", "a@b.cd\r\nBcc: x@y.z", "a b@c.d"})
    BOOST_TEST(compose_failure(what, row_for({bad})).starts_with("to: "));
}

BOOST_AUTO_TEST_SUITE_END()
