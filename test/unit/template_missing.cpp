#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

#include "test/unit/mail_support.hpp"
#include "transport/mail/template.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

content asking(missing_field missing, std::string defaults = "{}") {
  auto what = plain_content();
  what.missing = missing;
  what.defaults = std::move(defaults);
  return what;
}

/// What comes out of the text, or the error.
std::string text_or_problem(content what, std::string text, const std::string& fields) {
  what.text_body = std::move(text);
  const auto compiled = mail_template::compile(what);
  if (!compiled)
    return compiled.failure().text;
  const auto mail = compiled->render(fields);
  return mail ? mail->text_body : mail.failure().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(template_missing)

BOOST_AUTO_TEST_CASE(a_missing_field_is_empty_where_the_content_says_so) {
  const auto what = asking(missing_field::empty, R"({"name":"reader"})");
  BOOST_TEST(text_or_problem(what, "[{{name}}{{{name}}}{{&name}}]", "{}") == "[]");
}

BOOST_AUTO_TEST_CASE(a_missing_field_rejects_the_message_by_its_name) {
  const auto what = asking(missing_field::reject, R"({"name":"reader"})");
  for (const char* fields : {"{}", R"({"name":""})", R"({"name":null})", R"({"name":false})"})
    for (const char* text : {"{{name}}", "{{{ name }}}", "{{& name}}"})
      BOOST_TEST(text_or_problem(what, text, fields) == "text: field name is missing");
  BOOST_TEST(text_or_problem(what, "{{a.b}}", R"({"a":{"c":"x"}})")
             == "text: field a.b is missing");
  BOOST_TEST(text_or_problem(what, "{{name}}", R"({"name":"Zoe"})") == "Zoe");
  BOOST_TEST(text_or_problem(what, "{{name}}", R"({"name":0})") == "0");
}

BOOST_AUTO_TEST_CASE(a_default_stands_in_and_only_its_absence_rejects) {
  const auto what =
      asking(missing_field::fallback, R"({"name":"reader <1>","a":{"b":"deep"},"empty":""})");
  BOOST_TEST(text_or_problem(what, "{{name}} {{a.b}}", "{}") == "reader <1> deep");
  BOOST_TEST(text_or_problem(what, "{{name}}", R"({"name":"Zoe"})") == "Zoe");
  BOOST_TEST(text_or_problem(what, "[{{empty}}]", "{}") == "[]");
  BOOST_TEST(text_or_problem(what, "{{city}}", "{}")
             == "text: field city is missing and has no default");
  auto html = what;
  html.html_body = "{{name}}";
  BOOST_TEST(mail_template::compile(html)->render("{}")->html_body == "reader &lt;1&gt;");
}

BOOST_AUTO_TEST_CASE(a_section_asks_whether_the_message_has_a_field) {
  for (const auto missing : {missing_field::reject, missing_field::fallback}) {
    const auto what = asking(missing, R"({"name":"reader"})");
    const std::string text = "{{#name}}Dear {{name}}{{/name}}{{^name}}Hello{{/name}}";
    BOOST_TEST(text_or_problem(what, text, "{}") == "Hello");
    BOOST_TEST(text_or_problem(what, text, R"({"name":"Zoe"})") == "Dear Zoe");
  }
}

BOOST_AUTO_TEST_CASE(within_a_section_a_field_may_be_the_items_or_the_messages) {
  const auto what = asking(missing_field::reject);
  BOOST_TEST(
      text_or_problem(what, "{{#l}}{{n}}{{x}};{{/l}}", R"({"l":[{"n":"1"},{"n":"2"}],"x":"!"})")
      == "1!;2!;");
  BOOST_TEST(text_or_problem(what, "{{#l}}{{n}}{{/l}}", R"({"l":[{"n":"1"},{}]})")
             == "text: field n is missing");
  BOOST_TEST(text_or_problem(what, "{{#l}}<{{.}}>{{/l}}", R"({"l":["a",""]})") == "<a><>");
}

BOOST_AUTO_TEST_CASE(subject_and_headers_ask_as_bodies_do) {
  auto what = asking(missing_field::reject);
  what.subject = "for {{name}}";
  BOOST_TEST(compose_failure(what, row_for({"a@b.cd"})) == "subject: field name is missing");
  what = asking(missing_field::fallback, R"({"name":"you"})");
  what.headers = R"({"X-For":"{{name}} {{city}}"})";
  BOOST_TEST(compose_failure(what, row_for({"a@b.cd"}))
             == "headers.X-For: field city is missing and has no default");
  const auto raw = compose_mail(what, row_for({"a@b.cd"}, R"({"city":"Bonn"})")).raw;
  BOOST_TEST(raw.find("X-For: you Bonn\r\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(defaults_must_be_an_object) {
  for (const char* bad : {"", "[]", "1", "{", "{\"a\":\"\xff\"}"})
    BOOST_TEST(compile_failure(asking(missing_field::fallback, bad)).starts_with("defaults: "));
}

BOOST_AUTO_TEST_CASE(the_fields_of_a_content_are_listed_once_with_how_they_are_used) {
  auto what = plain_content();
  what.subject = "{{name}}";
  what.text_body = "{{#items}}{{title}} {{name}}{{/items}}{{^sale}}-{{/sale}}{{! x }}";
  what.html_body = "{{{ raw }}}{{& amp}}{{title}}";
  what.headers = R"({"X-A":"{{tag}}"})";
  const auto compiled = mail_template::compile(what);
  BOOST_REQUIRE(compiled);
  std::string all;
  for (const auto& field : compiled->fields())
    all += field.name + (field.is_printed ? "+" : "?") + (field.outside_section ? "o" : "i") + " ";
  BOOST_TEST(all == "name+o items?o title+o sale?o raw+o amp+o tag+o ");
  what.html_body.clear();
  const auto inside = mail_template::compile(what)->fields();
  const auto title = std::find_if(inside.begin(), inside.end(),
                                  [](const auto& one) { return one.name == "title"; });
  BOOST_REQUIRE((title != inside.end()));
  BOOST_TEST(!title->outside_section);
}

BOOST_AUTO_TEST_SUITE_END()
