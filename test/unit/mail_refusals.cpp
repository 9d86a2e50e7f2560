#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

#include "config/text.hpp"
#include "test/unit/mail_support.hpp"
#include "transport/mail/address.hpp"
#include "transport/mail/header_rules.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// What could end a header: in the middle, at the begin and at the end.
std::vector<std::string> breaking_texts() {
  std::vector<std::string> all;
  for (const std::string& bad :
       {std::string{"\r\n"}, std::string{"\r"}, std::string{"\n"}, std::string{"\0", 1}})
    for (const std::string& text : {"<a@b>" + bad + "Bcc: x@example.net", bad + "a", "a" + bad})
      all.push_back(text);
  return all;
}

content with_header(const std::string& name, const std::string& value) {
  auto what = plain_content();
  what.headers = "{" + json_string(name) + ":" + json_string(value) + "}";
  return what;
}

content with_attachment(attachment one) {
  auto what = plain_content();
  what.attachments = {std::move(one)};
  return what;
}

std::string disposition_of(const std::string& name) {
  const auto message =
      whole_text(compose_mail(with_attachment({name, "text/plain", "", "x"}), row_for({"a@b.cd"})));
  const auto begin = message.find("Content-Disposition: ") + 21;
  auto end = message.find("\r\n", begin);
  while (message[end + 2] == '\t' || message[end + 2] == ' ')
    end = message.find("\r\n", end + 2);
  return message.substr(begin, end - begin);
}

} // namespace

BOOST_AUTO_TEST_SUITE(mail_refusals)

BOOST_AUTO_TEST_CASE(no_text_can_add_a_header_wherever_it_comes_from) {
  for (const auto& bad : breaking_texts()) {
    BOOST_TEST(header_value_problem(bad).has_value());
    BOOST_TEST(header_name_problem(bad).has_value());
    auto what = plain_content();
    what.subject = bad;
    BOOST_TEST(compile_failure(what).starts_with("subject: "));
    what = plain_content();
    what.sender = bad + " <a@b.cd>";
    BOOST_TEST(compile_failure(what).starts_with("from: "));
    BOOST_TEST(
        compile_failure(with_header("In-Reply-To", bad)).starts_with("headers.In-Reply-To: "));
    BOOST_TEST(compile_failure(with_header("X-" + bad, "v")).starts_with("headers."));
    BOOST_TEST(compile_failure(with_attachment({bad, "text/plain", "", "x"}))
                   .starts_with("attachments[0].name: "));
    BOOST_TEST(compile_failure(with_attachment({"a", "text/plain", bad, "x"}))
                   .starts_with("attachments[0].content_id: "));
    BOOST_TEST(compile_failure(with_attachment({"a", "text/plain" + bad, "", "x"}))
                   .starts_with("attachments[0].media_type: "));
    auto row = row_for({"a@b.cd"});
    row.addresses = "{\"to\":[" + json_string(bad + " <a@b.cd>") + "]}";
    BOOST_TEST(compose_failure(plain_content(), row).starts_with("to: "));
  }
}

BOOST_AUTO_TEST_CASE(no_field_can_add_a_header) {
  for (const auto& bad : breaking_texts()) {
    const auto row = row_for({"a@b.cd"}, "{\"f\":" + json_string(bad) + "}");
    auto what = plain_content();
    what.subject = "s {{f}}";
    BOOST_TEST(compose_failure(what, row).starts_with("subject: "));
    BOOST_TEST(compose_failure(with_header("X-A", "a {{f}}"), row).starts_with("headers.X-A: "));
    BOOST_TEST(compose_failure(with_header("Reply-To", "{{f}} <a@b.cd>"), row)
                   .starts_with("headers.Reply-To: "));
    const auto parts = mail_composer::compile(with_header("X-A", "a {{f}}"), {mail_form::parts});
    BOOST_REQUIRE(parts);
    BOOST_TEST(!parts->compose({row, 0, nullptr, ""}));
    // In a body a line break is a line break.
    what = plain_content();
    what.text_body = "{{f}}";
    if (bad.find('\0') == std::string::npos)
      BOOST_TEST(compose_failure(what, row).empty());
  }
}

BOOST_AUTO_TEST_CASE(headers_that_paceline_sets_are_refused) {
  for (const char* name : {"From",
                           "TO",
                           "cc",
                           "Bcc",
                           "Subject",
                           "Date",
                           "Message-ID",
                           "message-id",
                           "MIME-Version",
                           "Content-Type",
                           "content-transfer-encoding",
                           "Content-X",
                           "Received",
                           "Return-Path",
                           "Sender",
                           "DKIM-Signature",
                           "ARC-Seal",
                           "Resent-To",
                           "List-Unsubscribe",
                           "list-unsubscribe-post",
                           "X-Paceline-Message",
                           "Feedback-ID",
                           "Authentication-Results"})
    BOOST_TEST(compile_failure(with_header(name, "v")).starts_with("headers."), name);
  for (const char* name : {"X:Y", "X Y", "", "X-\xc3\xbc", "X-A:", "X\t"})
    BOOST_TEST(compile_failure(with_header(name, "v")).starts_with("headers."), name);
  for (const char* name : {"X-Campaign", "In-Reply-To", "References", "List-Id", "Precedence"})
    BOOST_TEST(compile_failure(with_header(name, "v")).empty(), name);
}

BOOST_AUTO_TEST_CASE(headers_must_be_an_object_of_texts_within_bounds) {
  auto what = plain_content();
  for (const char* bad : {"", "[]", "{", "{\"X-A\":1}", "{\"X-A\":null}",
                          "{\"X-A\":\"1\",\"x-a\":\"2\"}", "{\"X-A\":\"{{a\"}"}) {
    what.headers = bad;
    BOOST_TEST(compile_failure(what).starts_with("headers"), bad);
  }
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += (i ? ",\"X-" : "{\"X-") + std::to_string(i) + "\":\"v\"";
  what.headers = many + "}";
  BOOST_TEST(compile_failure(what) == "headers: more than 50");
  BOOST_TEST(!compile_failure(with_header("X-A", std::string(999, 'v'))).empty());
  BOOST_TEST(compile_failure(with_header("X-A", std::string(998, 'v'))).empty());
}

BOOST_AUTO_TEST_CASE(a_header_that_grows_too_long_by_its_fields_is_refused) {
  const auto row = row_for({"a@b.cd"}, "{\"f\":\"" + std::string(995, 'f') + "\"}");
  BOOST_TEST(compose_failure(with_header("X-A", "abcd{{f}}"), row).starts_with("headers.X-A: "));
  BOOST_TEST(compose_failure(with_header("X-A", "abc{{f}}"), row).empty());
}

BOOST_AUTO_TEST_CASE(a_list_of_replies_is_checked_when_it_is_known) {
  BOOST_TEST(
      compile_failure(with_header("Reply-To", "not an address")).starts_with("headers.Reply-To: "));
  const auto varies = with_header("Reply-To", "{{who}}");
  BOOST_TEST(compile_failure(varies).empty());
  BOOST_TEST(compose_failure(varies, row_for({"a@b.cd"}, R"({"who":"nobody"})"))
                 .starts_with("headers.Reply-To: "));
  BOOST_TEST(compose_failure(varies, row_for({"a@b.cd"}, R"({"who":"a@b.cd"})")).empty());
}

BOOST_AUTO_TEST_CASE(file_names_are_written_as_in_the_vectors) {
  std::size_t checked = 0;
  const auto names = read_vectors("mime/params-2231.json");
  for (const auto& one : names["encode_filename"].GetArray()) {
    const auto name = text_of(one["filename"]), expected = text_of(one["disposition"]);
    BOOST_TEST_CONTEXT(name) {
      if (!expected.starts_with("attachment;") && name.size() < 255) {
        BOOST_TEST(compile_failure(with_attachment({name, "text/plain", "", "x"}))
                       .starts_with("attachments[0].name: "));
        continue;
      }
      if (name.size() > 255)
        continue; // longer than any file system has them, and than we take
      const auto written = disposition_of(name);
      // A token needs no quotes.
      if (expected.find('*') != std::string::npos
          || name.find_first_of(" \"%") != std::string::npos)
        BOOST_TEST(written == expected);
      const auto message = whole_text(
          compose_mail(with_attachment({name, "text/plain", "", "x"}), row_for({"a@b.cd"})));
      check_octets(message);
      BOOST_TEST(read_message(message).parts.at(1).file_name == name);
      ++checked;
    }
  }
  BOOST_TEST(checked >= 6u);
  std::string longest;
  while (longest.size() < 250)
    longest += "\xc3\x9c";
  for (const auto& name : {longest, std::string(255, 'n')}) {
    const auto message = whole_text(
        compose_mail(with_attachment({name, "text/plain", "", "x"}), row_for({"a@b.cd"})));
    check_octets(message);
    BOOST_TEST(read_message(message).parts.at(1).file_name == name);
  }
}

BOOST_AUTO_TEST_CASE(attachments_keep_their_bounds) {
  auto what = plain_content();
  const attachment one{"a", "text/plain", "", "x"};
  what.attachments.assign(51, one);
  BOOST_TEST(compile_failure(what) == "attachments: more than 50");
  what.attachments.assign(50, one);
  BOOST_TEST(compile_failure(what).empty());
  what.attachments = {{"a", "text/plain", "", std::string((40 << 20) + 1, 'x')}};
  BOOST_TEST(compile_failure(what) == "attachments: more than 40 MiB together");
  for (const char* type : {"", "text", "text/", "/plain", "Text/Plain", "a/b/c", "text/plain; x=y",
                           "multipart/mixed", "message/rfc822"})
    BOOST_TEST(compile_failure(with_attachment({"a", type, "", "x"}))
                   .starts_with("attachments[0].media_type: "),
               type);
  for (const char* name : {"", "a/b", "..\\a", "..", "\xff"})
    BOOST_TEST(compile_failure(with_attachment({name, "text/plain", "", "x"}))
                   .starts_with("attachments[0].name: "),
               name);
}

BOOST_AUTO_TEST_SUITE_END()
