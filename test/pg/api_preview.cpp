/// Previews: what a message would look like, without storing or sending anything.
#include "test/pg/api_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace paceline;
using namespace paceline::test;

BOOST_FIXTURE_TEST_SUITE(api_preview, api_fixture)

BOOST_AUTO_TEST_CASE(a_preview_shows_what_the_fields_make_and_stores_nothing) {
  const auto answer = call("POST", "/v1/preview",
                           R"({"from":"Shop <shop@example.com>","subject":"Order {{number}}",)"
                           R"("text":"Hi {{name}}, {{day}}",)"
                           R"("html":"<p>{{name}}</p>","headers":{"X-Order":"{{number}}"},)"
                           R"("fields":{"number":17,"name":"A & B"}})");
  BOOST_TEST(answer.status == 200, answer.body);
  BOOST_TEST(member(answer, "subject") == "Order 17");
  BOOST_TEST(member(answer, "text") == "Hi A & B, ");
  BOOST_TEST(member(answer, "html") == "<p>A &amp; B</p>");
  BOOST_TEST(member(answer, "headers") == R"({"X-Order":"17"})");
  BOOST_TEST(member(answer, "fields") == R"(["number","name","day"])");
  BOOST_TEST(member(answer, "missing") == R"(["day"])");
  BOOST_TEST(std::stoi(member(answer, "size")) > 300);
  BOOST_TEST(count("contents") == 0);
  BOOST_TEST(count("messages") == 0);
  BOOST_TEST(woken().empty());
}

BOOST_AUTO_TEST_CASE(defaults_fill_in_and_reject_refuses) {
  const std::string begin =
      R"({"from":"a@example.com","to":"Anna <anna@example.com>","subject":"s {{a}}","text":"t")";
  const auto filled = call("POST", "/v1/preview", begin + R"(,"defaults":{"a":"you"}})");
  BOOST_TEST(member(filled, "subject") == "s you", filled.body);
  BOOST_TEST(member(filled, "missing") == "[]");
  const auto refused = call("POST", "/v1/preview", begin + R"(,"missing":"reject"})");
  BOOST_TEST(refused.status == 422, refused.body);
  BOOST_TEST(refused.body.find("a") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_attachment_counts_with_the_size_it_has_on_the_wire) {
  const std::string begin = R"({"from":"a@example.com","subject":"s","text":"t")";
  const auto size_of = [&](const std::string& more) {
    const auto answer = call("POST", "/v1/preview", begin + more + "}");
    BOOST_TEST(answer.status == 200, answer.body);
    return std::stoi(member(answer, "size"));
  };
  const auto plain = size_of("");
  const auto with_file = size_of(R"(,"attachments":[{"name":"a.bin","media_type":"application/x",)"
                                 R"("content":")"
                                 + std::string(4000, 'A') + R"("}])");
  BOOST_TEST(with_file > plain + 4000);
}

BOOST_AUTO_TEST_CASE(a_preview_is_checked_as_a_message_is) {
  const auto bad = call("POST", "/v1/preview",
                        R"({"from":"a@example.com","subject":"{{n}}","text":"t","x":1,)"
                        R"("fields":{"n":"a\r\nBcc: b@example.net"}})");
  BOOST_TEST(bad.status == 400);
  for (const auto* pointer : {"/fields", "/x"})
    BOOST_TEST(bad.body.find(pointer) != std::string::npos, bad.body);
  const header_list reader{{"Authorization", bearer(make_key({key_scope::read}))}};
  BOOST_TEST(call("POST", "/v1/preview", message(), reader).status == 403);
}

BOOST_AUTO_TEST_CASE(attachments_reach_the_database_with_their_message) {
  const auto sent = send(R"("attachments":[{"name":"a.bin","media_type":"application/x",)"
                         R"("content":"AAEC/w=="}],"missing":"reject")");
  BOOST_TEST(sent.status == 202, sent.body);
  BOOST_TEST(ask("SELECT encode(data, 'hex') FROM content_attachments") == "000102ff");
  BOOST_TEST(ask("SELECT missing FROM contents") == "2");
}

BOOST_AUTO_TEST_SUITE_END()
