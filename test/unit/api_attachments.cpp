/// Attachments, missing fields and headers with fields in requests.
#include "test/unit/api_support.hpp"

#include "transport/api/attachment_request.hpp"
#include "transport/api/base64.hpp"

namespace paceline::test {
namespace {

/// One attachment with the members of `more` in place of ours.
std::string attached(const std::string& name = R"("a.pdf")",
                     const std::string& type = R"("application/pdf")",
                     const std::string& content = R"("AAECAw==")", const std::string& more = {}) {
  return R"({"name":)" + name + R"(,"media_type":)" + type + R"(,"content":)" + content + more
         + "}";
}

std::string attachments(const std::string& list) {
  return "\"attachments\":[" + list + "]";
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_attachments)

BOOST_AUTO_TEST_CASE(base64_is_read_as_rfc_4648_has_it) {
  const std::pair<const char*, const char*> good[] = {{"", ""},
                                                      {"Zg==", "f"},
                                                      {"Zm8=", "fo"},
                                                      {"Zm9v", "foo"},
                                                      {"Zm9vYg==", "foob"},
                                                      {"Zm9vYmE=", "fooba"},
                                                      {"Zm9vYmFy", "foobar"},
                                                      {"Zm9v\r\nYmFy\r\n", "foobar"}};
  for (const auto& [text, octets] : good)
    BOOST_TEST(read_base64(text).value_or("none") == octets, text);
  BOOST_TEST(read_base64("+/+/").value() == "\xfb\xff\xbf");
  for (const auto* bad : {"Zg", "Zg=", "Zg===", "Z===", "====", "=", "Zm8",
                          "Zm8==", "Zm9v=", "Zh==", "Zm9=", "Zg==Zg==", "Zm 9v", "Zm9-", "Zm9_",
                          "Zm\xc3\xa4v", "Zg=v"})
    BOOST_TEST(!read_base64(bad), bad);
}

BOOST_AUTO_TEST_CASE(an_attachment_is_read_as_it_is_written) {
  const auto read =
      send(sendable(attachments(attached() + ","
                                + attached(R"("r\u00e4port \"1\".PNG")", R"("Image/PNG")", R"("")",
                                           R"(,"content_id":"logo@shop.example")"))));
  BOOST_TEST(read.problems.is_empty(), read.text());
  const auto& all = read.made.contents[0].what.attachments;
  BOOST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0].name == "a.pdf");
  BOOST_TEST(all[0].media_type == "application/pdf");
  BOOST_TEST(all[0].content_id == "");
  BOOST_TEST(all[0].data == std::string("\0\1\2\3", 4));
  BOOST_TEST(all[1].name == "r\xc3\xa4port \"1\".PNG");
  BOOST_TEST(all[1].media_type == "image/png");
  BOOST_TEST(all[1].content_id == "logo@shop.example");
  BOOST_TEST(all[1].data == "");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_an_attachment_has_its_place) {
  for (const auto* bad : {R"("")", R"("a/b")", R"("a\\b")", R"("..")", R"(".")", R"("a\nb")",
                          R"("a\tb")", R"("a\u0085b\u0001")", "7"})
    check_refused(attachments(attached(bad)), "/attachments/0/name");
  check_refused(attachments(attached("\"" + std::string(256, 'a') + "\"")), "/attachments/0/name",
                "255");
  for (const auto* bad :
       {R"("pdf")", R"("application/")", R"("/pdf")", R"("a/b/c")",
        R"("text/plain; charset=utf-8")", R"("text/pl ain")", R"("text/\u00e4")",
        R"("text/plain\r\n")", R"("multipart/mixed")", R"("MESSAGE/rfc822")", R"("")", "null"})
    check_refused(attachments(attached(R"("a")", bad)), "/attachments/0/media_type");
  for (const auto* bad : {R"("AAE")", R"("A A=")", "7", R"("\u0000")"})
    if (std::string_view{bad}.find("u0000") == std::string_view::npos)
      check_refused(attachments(attached(R"("a")", R"("a/b")", bad)), "/attachments/0/content");
  for (const auto* bad :
       {R"("")", R"("<a@b>")", R"("a b")", R"("a\r\nb")", R"("a\"b")", R"("\u00e4")"})
    check_refused(attachments(attached(R"("a")", R"("a/b")", R"("")",
                                       R"(,"content_id":)" + std::string{bad})),
                  "/attachments/0/content_id");
  check_refused(attachments(attached() + R"(,{"media_type":"a/b","content":""})"),
                "/attachments/1/name", "is missing");
  check_refused(attachments(attached(R"("a")", R"("a/b")", R"("")", R"(,"size":1)")),
                "/attachments/0/size");
  check_refused(R"("attachments":{})", "/attachments", "must be an array");
  check_refused(R"("attachments":[7])", "/attachments/0", "must be an object");
}

BOOST_AUTO_TEST_CASE(content_ids_are_there_once_and_fifty_files_are_the_most) {
  const auto inline_file = attached(R"("a")", R"("a/b")", R"("")", R"(,"content_id":"x")");
  check_refused(attachments(inline_file + "," + inline_file), "/attachments/1/content_id",
                "has it already");
  std::string many = attached();
  for (int i = 1; i < 50; ++i)
    many += "," + attached();
  check_fine(attachments(many));
  check_refused(attachments(many + "," + attached()), "/attachments", "at most 50");
}

BOOST_AUTO_TEST_CASE(missing_fields_become_what_the_content_says) {
  const auto missing_of = [](const std::string& more) {
    const auto read = send(sendable(more));
    BOOST_TEST(read.problems.is_empty(), read.text());
    return read.made.contents.at(0).what;
  };
  BOOST_TEST((missing_of("").missing == missing_field::empty));
  BOOST_TEST((missing_of(R"("missing":"empty")").missing == missing_field::empty));
  BOOST_TEST((missing_of(R"("missing":"reject")").missing == missing_field::reject));
  BOOST_TEST((missing_of(R"("missing":"default")").missing == missing_field::fallback));
  const auto both = missing_of(R"("defaults":{"name":  "you", "n":1.0})");
  BOOST_TEST((both.missing == missing_field::fallback));
  BOOST_TEST(both.defaults == R"({"name":  "you", "n":1.0})");
  check_refused(R"("missing":"ignore")", "/missing", "empty, default or reject");
  check_refused(R"("missing":"reject","defaults":{})", "/missing", "default");
  check_refused(R"("defaults":[])", "/defaults", "must be an object");
  check_refused(R"("defaults":{"a":")" + std::string(65536, 'x') + R"("})", "/defaults", "65536");
}

BOOST_AUTO_TEST_CASE(a_header_may_hold_fields_and_no_field_can_break_it) {
  const std::string with_header = R"("headers":{"X-Order":"{{order}}"},)";
  check_fine(with_header + R"("fields":{"order":"17"})");
  check_fine(with_header + R"("fields":{"order":"17","note":"a\nb"})");
  check_refused(with_header + R"("fields":{"order":"17\r\nBcc: x@example.net"})", "/fields",
                "X-Order");
  check_refused(with_header + R"("defaults":{"order":"17\nBcc: x@example.net"})", "/defaults",
                "X-Order");
  check_refused(R"("defaults":{"name":"a\rb"})", "/defaults", "subject");
  check_refused(R"("headers":{"X-Order":"{{order"})", "/headers/X-Order", "not closed");
  check_refused(R"("headers":{"X-Order":"{{>order}}"})", "/headers/X-Order", "partials");
}

BOOST_AUTO_TEST_CASE(a_shared_content_leaves_no_room_for_attachments_of_a_message) {
  const auto read = batch(R"({"content":{"from":"a@b.de","subject":"s","text":"t"},"messages":[)"
                          R"({"to":"x@b.de","attachments":[]}]})");
  BOOST_TEST(read.names("/messages/0"), read.text());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
