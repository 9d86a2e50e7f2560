/// Which fields templates use, and which of them a message does not have.
#include <boost/test/unit_test.hpp>

#include "transport/api/template_fields.hpp"

namespace paceline::test {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names)
    all += (all.empty() ? "" : " ") + name;
  return all;
}

template_fields found(const std::string& text, const std::string& fields = "{}") {
  content what;
  what.text_body = text;
  return find_template_fields(what, fields);
}

std::string missing(const std::string& text, const std::string& fields = "{}") {
  return joined(found(text, fields).missing);
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_template_fields)

BOOST_AUTO_TEST_CASE(names_come_once_from_all_parts_in_their_order) {
  content what;
  what.subject = "{{a}}";
  what.headers = R"({"X-A":"{{ h }}","X-B":"none"})";
  what.text_body = "{{{b}}} {{& c }} {{a}} {{! a comment }}";
  what.html_body = "{{#list}}{{item}}{{.}}{{/list}}{{^d}}{{/d}} {{ e.f }}";
  BOOST_TEST(joined(find_template_fields(what, "{}").used) == "a h b c list item d e.f");
}

BOOST_AUTO_TEST_CASE(what_a_message_does_not_have_is_missing) {
  BOOST_TEST(missing("{{a}} {{b}} {{c}} {{d}}", R"({"a":"","b":null,"c":false,"d":0})") == "a b c");
  BOOST_TEST(missing("{{a.b}} {{a.c}} {{a.b.c}}", R"({"a":{"b":"x"}})") == "a.c a.b.c");
  BOOST_TEST(missing("{{a}}", "no json") == "a");
}

BOOST_AUTO_TEST_CASE(what_does_not_appear_is_not_missing) {
  BOOST_TEST(missing("{{#a}}Dear {{a}}{{b}}{{/a}}{{^a}}Hello{{/a}}") == "");
  BOOST_TEST(missing("{{^a}}{{b}}{{/a}}") == "b");
  BOOST_TEST(missing("{{^a}}{{b}}{{/a}}", R"({"a":"x"})") == "");
  BOOST_TEST(missing("{{#a}}{{#b}}{{c}}{{/b}}{{d}}{{/a}}", R"({"a":true})") == "d");
  BOOST_TEST(missing("{{#a}}{{/a}}{{b}}", R"({"a":[]})") == "b");
}

BOOST_AUTO_TEST_CASE(within_a_section_the_items_have_the_fields) {
  const std::string fields = R"({"lines":[{"name":"x","price":1},{"name":"y"}],"shop":"S"})";
  BOOST_TEST(
      missing("{{#lines}}{{name}} {{price}} {{shop}} {{colour}}{{.}}{{/lines}}{{name}}", fields)
      == "colour name");
}

BOOST_AUTO_TEST_CASE(a_default_counts_where_defaults_are_used) {
  content what;
  what.text_body = "{{a}} {{b}}";
  what.defaults = R"({"a":"x"})";
  BOOST_TEST(joined(find_template_fields(what, "{}").missing) == "a b");
  what.missing = missing_field::fallback;
  BOOST_TEST(joined(find_template_fields(what, "{}").missing) == "b");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
