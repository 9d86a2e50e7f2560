#include <boost/test/unit_test.hpp>

#include <variant>

#include "transport/api/json_document.hpp"
#include "transport/api/json_pointer.hpp"

namespace paceline {
namespace {

json_document must_read(std::string_view body, std::string_view opaque = {}) {
  auto read = json_document::read(body, opaque);
  if (const auto* problem = std::get_if<field_problem>(&read))
    BOOST_FAIL(problem->pointer + ": " + problem->detail);
  return std::get<json_document>(std::move(read));
}

field_problem refusal(std::string_view body) {
  auto read = json_document::read(body);
  const auto* problem = std::get_if<field_problem>(&read);
  BOOST_REQUIRE_MESSAGE(problem != nullptr, body << " was read");
  return *problem;
}

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[')
         + std::string(static_cast<std::size_t>(levels), ']');
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_json)

BOOST_AUTO_TEST_CASE(values_come_in_order_with_keys_texts_and_sizes) {
  const std::string body = R"({"a":"x\n\u00e9","b":[1,-2.50e3,true,false,null],"c":{"d":{}}})";
  const auto document = must_read(body);
  const auto root = document.root();
  BOOST_TEST((root.kind() == json_kind::object));
  BOOST_TEST(root.size() == 3u);
  BOOST_TEST(root.text() == body);
  auto member = root.begin();
  BOOST_TEST((*member).key() == "a");
  BOOST_TEST((*member).text() == "x\n\xc3\xa9");
  ++member;
  BOOST_TEST((*member).key() == "b");
  BOOST_TEST((*member).text() == "[1,-2.50e3,true,false,null]");
  std::string elements;
  for (const auto element : *member)
    elements += std::string{element.text()} + ";";
  BOOST_TEST(elements == "1;-2.50e3;true;false;null;");
  ++member;
  BOOST_TEST((*member).key() == "c");
  BOOST_TEST((*member).text() == R"({"d":{}})");
  ++member;
  BOOST_TEST(!(member != root.end()));
}

BOOST_AUTO_TEST_CASE(what_an_opaque_object_holds_is_checked_and_kept_as_written) {
  const std::string body = R"({"fields":{"n": 1.10,"s":"\u00e9"},"to":"x"})";
  const auto document = must_read(body, "fields");
  const auto fields = *document.root().begin();
  BOOST_TEST(fields.text() == R"({"n": 1.10,"s":"\u00e9"})");
  BOOST_TEST(fields.size() == 0u);
  auto next = document.root().begin();
  ++next;
  BOOST_TEST((*next).key() == "to");
  BOOST_TEST(std::holds_alternative<field_problem>(
      json_document::read(R"({"fields":{"a":1,"a":2}})", "fields")));
  BOOST_TEST(std::holds_alternative<field_problem>(
      json_document::read(R"({"fields":{"a":"\u0000"}})", "fields")));
}

BOOST_AUTO_TEST_CASE(line_breaks_show_on_every_value_around_them) {
  const auto document = must_read(R"({"a":{"x":["\r"]},"b":{"x":"none"}})", "x");
  auto member = document.root().begin();
  BOOST_TEST(document.root().has_line_breaks());
  BOOST_TEST((*member).has_line_breaks());
  ++member;
  BOOST_TEST(!(*member).has_line_breaks());
}

BOOST_AUTO_TEST_CASE(a_member_that_is_there_twice_is_named) {
  BOOST_TEST(refusal(R"({"a":1,"b":{"c":1,"c":2}})").pointer == "/b/c");
  std::string many = "{";
  for (int i = 0; i < 40; ++i)
    many += "\"k" + std::to_string(i) + "\":0,";
  BOOST_TEST(refusal(many + "\"k7\":0}").pointer == "/k7");
  // The same name, differently written.
  BOOST_TEST(refusal(R"({"a":1,"\u0061":2})").pointer == "/a");
}

BOOST_AUTO_TEST_CASE(nesting_ends_at_32_levels) {
  must_read(nested(32));
  const auto problem = refusal(nested(33));
  BOOST_TEST(problem.detail.find("32 levels") != std::string::npos);
  refusal(nested(100'000));
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf_8_is_refused) {
  for (const auto* wrong : {"{\"a\":\"\xff\"}", "{\"a\":\"\xc3\"}", "{\"a\":\"\xed\xa0\x80\"}",
                            "{\"a\":\"\xc0\x80\"}", "{\"\xff\":1}", R"({"a":"\ud800"})",
                            R"({"a":"\udc00"})", R"({"a":"\udc00\ud800"})", R"({"\udfff":1})"})
    refusal(wrong);
  for (const auto* cut_off : {"\"\xe3", "{\"a\":\"\xf0", "{\"a\":\"\xf0\x9f", "\"\xf4\x8f\xbf"})
    refusal(cut_off);
  must_read(R"({"a":"\ud83d\ude00"})");
  must_read("{\"a\":\"\xed\x9f\xbf\"}"); // U+D7FF, the last before the surrogates
}

BOOST_AUTO_TEST_CASE(nul_is_refused_wherever_it_stands) {
  refusal(R"({"a":"\u0000"})");
  refusal(R"({"\u0000":1})");
  refusal(std::string_view{"{\"a\":1}\0{}", 10});
  refusal(std::string_view{"{\"a\":\"\0\"}", 9});
}

BOOST_AUTO_TEST_CASE(what_is_not_json_is_refused_with_its_octet) {
  BOOST_TEST(refusal("{\"a\":1,}").detail.find("at octet 8") != std::string::npos);
  for (const auto* wrong : {"", " ", "{", "{\"a\"}", "{'a':1}", "{\"a\":01}", "{\"a\":+1}",
                            "{\"a\":.5}", "{\"a\":NaN}", "{} {}", "{}x", "\xef\xbb\xbf{}",
                            "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "// c\n{}", "{\"a\":1e}"})
    refusal(wrong);
  BOOST_TEST(refusal(R"({"a":[{"b":tru}]})").pointer == "/a/0/b");
  BOOST_TEST(refusal(R"({"a":[{"b":1},{"b":"\ud800"}]})").pointer == "/a/1/b");
}

BOOST_AUTO_TEST_CASE(the_number_of_values_is_bounded) {
  std::string body = "[";
  for (int i = 0; i < 599'998; ++i)
    body += "0,";
  must_read(body + "0]");
  refusal(body + "0,0]");
}

BOOST_AUTO_TEST_CASE(pointers_escape_as_rfc_6901_says) {
  const json_place root;
  const json_place member{root, "a/b~c"};
  const json_place element{member, std::size_t{3}};
  BOOST_TEST(root.pointer() == "");
  BOOST_TEST(element.pointer() == "/a~1b~0c/3");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline
