#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>
#include <string>

#include "transport/mail/template.hpp"

using namespace paceline;

namespace {

content with_text(std::string text) {
  content what;
  what.subject = "s";
  what.text_body = std::move(text);
  return what;
}

std::string text_of(const std::string& pattern, const std::string& fields) {
  auto compiled = mail_template::compile(with_text(pattern));
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(compiled), (compiled ? "" : compiled.failure().text));
  auto mail = compiled->render(fields);
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(mail), (mail ? "" : mail.failure().text));
  return mail->text_body;
}

std::string compile_problem(const content& what) {
  auto compiled = mail_template::compile(what);
  if (compiled)
    return "";
  BOOST_TEST((compiled.failure().kind == error_kind::invalid));
  return compiled.failure().text;
}

std::string render_problem(const content& what, const std::string& fields) {
  auto compiled = mail_template::compile(what);
  BOOST_REQUIRE(compiled);
  auto mail = compiled->render(fields);
  if (mail)
    return "";
  BOOST_TEST((mail.failure().kind == error_kind::invalid));
  return mail.failure().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(template_rendering)

BOOST_AUTO_TEST_CASE(only_html_is_escaped) {
  content what;
  what.subject = what.text_body = what.html_body = "{{a}} {{{a}}} {{&a}}";
  auto mail = mail_template::compile(what)->render(R"({"a":"<&\"'>"})");
  BOOST_REQUIRE(mail);
  BOOST_TEST(mail->subject == "<&\"'> <&\"'> <&\"'>");
  BOOST_TEST(mail->text_body == mail->subject);
  BOOST_TEST(mail->html_body == "&lt;&amp;&quot;&apos;&gt; <&\"'> <&\"'>");
}

BOOST_AUTO_TEST_CASE(text_without_tags_comes_out_as_it_is) {
  std::string odd = "a }} b { c\r\n\n  \n\td \xc3\xbc }";
  BOOST_TEST(text_of(odd, "{}") == odd);
  BOOST_TEST(text_of(odd + "{{x}}\n" + odd, "{}") == odd + "\n" + odd);
}

BOOST_AUTO_TEST_CASE(missing_empty_and_false_fields_are_empty_and_give_way_to_defaults) {
  for (const char* fields : {"{}", R"({"name":""})", R"({"name":null})", R"({"name":false})"})
    BOOST_TEST(text_of("[{{name}}] {{#name}}{{name}}{{/name}}{{^name}}reader{{/name}}", fields)
               == "[] reader");
  BOOST_TEST(text_of("{{#name}}{{name}}{{/name}}{{^name}}reader{{/name}}", R"({"name":"Zoe"})")
             == "Zoe");
}

BOOST_AUTO_TEST_CASE(numbers_keep_their_spelling_and_true_shows) {
  BOOST_TEST(text_of("{{n}} {{m}} {{t}}", R"({"n":1.50,"m":12345678901234567890,"t":true})")
             == "1.50 12345678901234567890 true");
}

BOOST_AUTO_TEST_CASE(lists_and_objects_are_sections) {
  BOOST_TEST(text_of("{{#items}}{{name}}:{{#tags}}<{{.}}>{{/tags}};{{/items}}{{^none}}-{{/none}}",
                     R"({"items":[{"name":"a","tags":["x","y"]},{"name":"b"}],"none":[]})")
             == "a:<x><y>;b:;-");
  BOOST_TEST(text_of("{{#who}}{{name}} of {{city}}{{/who}} {{who.name}}",
                     R"({"who":{"name":"Zoe"},"city":"Bonn"})")
             == "Zoe of Bonn Zoe");
}

BOOST_AUTO_TEST_CASE(lines_that_hold_only_a_section_tag_vanish) {
  BOOST_TEST(text_of("one\n{{#a}}\ntwo\nthree\n{{/a}}\n  {{! note }}\nfour\n", R"({"a":true})")
             == "one\ntwo\nthree\n  \nfour\n");
  BOOST_TEST(text_of("one\r\n{{#a}}\r\ntwo\r\n{{/a}}\r\nthree", R"({"a":true})")
             == "one\r\ntwo\r\nthree");
}

BOOST_AUTO_TEST_CASE(a_field_is_never_read_as_a_template) {
  BOOST_TEST(text_of("{{a}}", R"({"a":"{{b}} {{>a}}","b":"no"})") == "{{b}} {{>a}}");
}

BOOST_AUTO_TEST_CASE(bad_templates_name_part_line_and_problem) {
  content what;
  what.html_body = "<p>\n{{#a}}\n";
  BOOST_TEST(compile_problem(what) == "html: section a (line 2) is not closed");
  for (const char* bad : {"{{", "{{a", "{{{a}}", "{{#a}}", "{{/a}}", "{{#a}}{{/b}}",
                          "{{#a}}{{#b}}{{/a}}{{/b}}", "{{>file}}", "{{=<% %>=}}", "{{}}", "\xff",
                          "{{"
                          "{"})
    BOOST_TEST(compile_problem(with_text(bad)).starts_with("text: "), bad);
}

BOOST_AUTO_TEST_CASE(deep_sections_are_refused_before_they_can_exhaust_the_stack) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i)
    deep += "{{#a}}";
  BOOST_TEST(compile_problem(with_text(deep)).find("32") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(sizes_are_bounded) {
  content what;
  what.subject = std::string(999, 's');
  BOOST_TEST(compile_problem(what).starts_with("subject: "));
  BOOST_TEST(compile_problem(with_text(std::string((1 << 20) + 1, 't'))).starts_with("text: "));
  BOOST_TEST(compile_problem(with_text(std::string(1 << 20, 't'))).empty());
}

BOOST_AUTO_TEST_CASE(a_result_that_grows_out_of_bounds_is_refused) {
  std::string fields = R"({"a":[1)";
  for (int i = 0; i < 99; ++i)
    fields += ",1";
  fields += "]}";
  std::string nested = "{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}";
  std::string closed = "{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}";
  BOOST_TEST(render_problem(with_text(nested + closed), fields).starts_with("text: "));
  BOOST_TEST(render_problem(with_text("{{#a}}" + std::string(20'000, 'x') + "{{/a}}"), fields)
             == "text: more than 1 MiB");
}

BOOST_AUTO_TEST_CASE(a_subject_can_not_become_a_second_header) {
  content what;
  what.subject = "Hello {{name}}";
  for (const char* fields : {R"({"name":"x\r\nBcc: a@b.c"})", R"({"name":"x\n"})",
                             R"({"name":"x\r"})", R"({"name":"x\u0000"})"})
    BOOST_TEST(render_problem(what, fields).starts_with("subject: "));
  what.subject = "Hello\nworld";
  BOOST_TEST(compile_problem(what).starts_with("subject: "));
}

BOOST_AUTO_TEST_CASE(fields_must_be_an_object_of_bounded_depth) {
  auto what = with_text("{{a}}");
  std::string deep = R"({"a":)" + std::string(31, '[') + std::string(31, ']') + "}";
  BOOST_TEST(render_problem(what, deep).empty());
  for (const std::string& bad :
       {std::string{""}, std::string{"1"}, std::string{"\"x\""}, std::string{"[]"},
        std::string{"[{}]"}, std::string{"{"}, std::string{"{} x"}, std::string{"null"},
        std::string{"{\"a\":\"\xff\"}"}, std::string(100'000, '['),
        R"({"a":)" + std::string(32, '[') + std::string(32, ']') + "}"})
    BOOST_TEST(!render_problem(what, bad).empty(), bad.substr(0, 20));
}

BOOST_AUTO_TEST_CASE(the_example_templates_greet_with_and_without_a_name) {
  auto read = [](const std::string& part) {
    std::ifstream file{PACELINE_SOURCE_DIR "/docs/examples/newsletter." + part + ".mustache"};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  content what;
  what.subject = read("subject");
  what.text_body = read("txt");
  what.html_body = read("html");
  auto compiled = mail_template::compile(what);
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(compiled), (compiled ? "" : compiled.failure().text));
  auto named = compiled->render(R"({"name":"Tag <b>","city":"R&D"})");
  BOOST_REQUIRE(named);
  BOOST_TEST(named->subject == "Tag <b>, your news of the week");
  BOOST_TEST(named->text_body.starts_with("Dear Tag <b>,\n"));
  BOOST_TEST(named->html_body.find("Dear Tag &lt;b&gt;,") != std::string::npos);
  BOOST_TEST(named->html_body.find("<strong>R&amp;D</strong>") != std::string::npos);
  auto nameless = compiled->render("{}");
  BOOST_REQUIRE(nameless);
  BOOST_TEST(nameless->subject == "Your news of the week");
  BOOST_TEST(nameless->html_body.find("The first one") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(one_template_renders_many_messages) {
  auto compiled = mail_template::compile(with_text("Dear {{name}}!"));
  BOOST_REQUIRE(compiled);
  auto moved = std::move(*compiled);
  for (int i = 0; i < 3; ++i) {
    auto name = "n" + std::to_string(i);
    BOOST_TEST(moved.render(R"({"name":")" + name + "\"}")->text_body == "Dear " + name + "!");
  }
}

BOOST_AUTO_TEST_SUITE_END()
