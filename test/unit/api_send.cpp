#include "test/unit/api_support.hpp"

namespace paceline::test {

BOOST_AUTO_TEST_SUITE(api_send)

BOOST_AUTO_TEST_CASE(a_message_is_read_as_it_is_written) {
  const auto read = send(sendable(
      R"("fields":{"name":"A","n":1.10},"tags":{"order":"17"},"priority":7,"region":"sim",)"
      R"("send_at":"2026-06-01T15:00:00+02:00","expires_at":"2026-06-02T00:00:00Z",)"
      R"("headers":{"X-Shop":"a \"b\""},"reply_to":"Help <help@example.com>","html":"<b>")"));
  BOOST_TEST(read.problems.is_empty(), read.text());
  const auto& made = read.made;
  BOOST_REQUIRE(made.messages.size() == 1u);
  BOOST_TEST(made.contents[0].what.sender == "Shop <shop@example.com>");
  BOOST_TEST(made.contents[0].sender_domain == "example.com");
  BOOST_TEST(made.contents[0].what.headers
             == R"({"Reply-To":"Help <help@example.com>","X-Shop":"a \"b\""})");
  BOOST_TEST(made.contents[0].what.html_body == "<b>");
  BOOST_TEST(made.priority == 7);
  BOOST_TEST(made.region.value() == "sim");
  const auto& message = made.messages[0];
  BOOST_REQUIRE(message.recipients.size() == 1u);
  BOOST_TEST(message.recipients[0] == "anna@example.com");
  BOOST_TEST(message.fields == R"({"name":"A","n":1.10})");
  BOOST_TEST(message.tags.value() == R"({"order":"17"})");
  BOOST_TEST(message.send_at.value() == noon + 3'600'000'000);
  BOOST_TEST(message.expires_at.value() == noon + 12 * 3'600'000'000);
  BOOST_TEST(!message.addresses);
  BOOST_TEST(!made.is_due(noon));
  BOOST_TEST(made.is_due(noon + 3'600'000'000));
}

BOOST_AUTO_TEST_CASE(without_options_a_message_goes_now_with_priority_0) {
  const auto read = send(sendable());
  BOOST_TEST(read.problems.is_empty(), read.text());
  BOOST_TEST(read.made.priority == 0);
  BOOST_TEST(!read.made.region);
  BOOST_TEST(read.made.messages[0].fields == "{}");
  BOOST_TEST(!read.made.messages[0].tags);
  BOOST_TEST(read.made.is_due(noon));
}

BOOST_AUTO_TEST_CASE(cc_bcc_and_names_are_kept_as_given) {
  const auto read = send(R"({"from":"a@b.de","to":["Ann <X@b.de>"],"cc":"Y@b.de","bcc":["z@b.de"],)"
                         R"("subject":"s","text":"t"})");
  BOOST_TEST(read.problems.is_empty(), read.text());
  const auto& message = read.made.messages[0];
  BOOST_TEST(message.recipients == (std::vector<std::string>{"x@b.de", "y@b.de", "z@b.de"}),
             boost::test_tools::per_element());
  BOOST_TEST(message.addresses.value()
             == R"({"to":["Ann <X@b.de>"],"cc":["Y@b.de"],"bcc":["z@b.de"]})");
}

BOOST_AUTO_TEST_CASE(a_recipient_is_there_once_in_whatever_spelling) {
  check_refused(R"("cc":["b@example.com","ANNA@EXAMPLE.COM"])", "/cc/1", "once");
}

BOOST_AUTO_TEST_CASE(fifty_recipients_are_the_most) {
  std::string list;
  for (int i = 0; i < 49; ++i)
    list += (i > 0 ? "," : "") + std::string{"\"r"} + std::to_string(i) + "@example.com\"";
  check_fine("\"cc\":[" + list + "]");
  check_refused("\"cc\":[" + list + "],\"bcc\":\"one@example.com\"", "/to", "51");
}

BOOST_AUTO_TEST_CASE(everything_that_is_wrong_is_told_at_once) {
  const auto read = send(R"({"to":[],"text":7,"priority":101,"sbuject":"x"})");
  for (const auto* pointer : {"/from", "/to", "/subject", "/text", "/priority", "/sbuject"})
    BOOST_TEST(read.names(pointer), pointer << " is missing in " << read.text());
  BOOST_TEST(read.text().find("known are: from, subject") != std::string::npos, read.text());
}

BOOST_AUTO_TEST_CASE(a_text_or_html_is_needed) {
  const std::string begin = R"({"from":"a@b.de","to":"x@b.de","subject":"s")";
  BOOST_TEST(send(begin + "}").names("/text"));
  BOOST_TEST(send(begin + R"(,"text":""})").names("/text"));
  BOOST_TEST(send(begin + R"(,"html":""})").names("/html"));
  BOOST_TEST(send(begin + R"(,"html":"x"})").problems.is_empty());
}

BOOST_AUTO_TEST_CASE(no_line_break_gets_into_a_header) {
  for (const std::string bad : {"\\r\\n", "\\r", "\\n", "\\u000b", "\\u007f"}) {
    check_refused(R"("headers":{"In-Reply-To":"<a@b>)" + bad + R"(Bcc: x@example.net"})",
                  "/headers/In-Reply-To", "line break");
    check_refused(R"("reply_to":"A)" + bad + R"(B <a@example.com>")", "/reply_to");
    check_refused(R"("reply_to":"a@example.com)" + bad + "\"", "/reply_to");
    check_refused(R"("cc":"\"A)" + bad + R"(B\" <a@example.com>")", "/cc");
    check_refused(R"("tags":{"a":"x)" + bad + "\"}", "/tags/a");
    BOOST_TEST(send(R"({"from":"A)" + bad + R"( <a@b.de>","to":"x@b.de","subject":"s","text":"t"})")
                   .names("/from"));
    BOOST_TEST(send(R"({"from":"a@b.de","to":"x@b.de","subject":"s)" + bad + R"(t","text":"t"})")
                   .names("/subject"));
    BOOST_TEST(!send(sendable(R"("headers":{"X)" + bad + R"(Bcc":"x"})")).problems.is_empty());
  }
}

BOOST_AUTO_TEST_CASE(a_field_that_would_break_the_subject_is_refused) {
  check_refused(R"("fields":{"name":"x\r\nBcc: y@example.net"})", "/fields", "line break");
  check_refused(R"("fields":{"name":"x\n"})", "/fields");
  check_fine(R"("fields":{"name":"x","address":"Street 1\nTown"})");
}

BOOST_AUTO_TEST_CASE(header_names_are_those_of_rfc_5322_and_none_of_ours) {
  for (const auto* bad : {"", "A B", "A:B", "\xc3\xa4", "A\\tB", "A\\u007fB"})
    BOOST_TEST(send(sendable(R"("headers":{")" + std::string{bad} + R"(":"x"})")).problems.size()
                   == 1u,
               bad);
  for (const auto* ours :
       {"From", "to", "CC", "Bcc", "Subject", "DATE", "Message-ID", "Reply-To", "MIME-Version",
        "Content-Type", "content-anything", "Return-Path", "Sender", "DKIM-Signature", "Received",
        "List-Unsubscribe", "List-Unsubscribe-Post", "Resent-From"})
    check_refused(R"("headers":{")" + std::string{ours} + R"(":"x"})",
                  "/headers/" + std::string{ours}, "Paceline itself");
  check_refused(R"("headers":{"X-A":"1","x-a":"2"})", "/headers/x-a", "twice");
  check_refused(R"("headers":{"X-A":1})", "/headers/X-A", "must be a text");
  check_refused(R"("headers":[])", "/headers");
  check_fine(R"("headers":{"In-Reply-To":"<a@b>","X-\u0021#":"tab\there"})");
}

BOOST_AUTO_TEST_CASE(sizes_are_checked_below_at_and_above_their_limit) {
  const auto header = [](std::size_t name, std::size_t value) {
    return R"("headers":{")" + std::string(name, 'X') + R"(":")" + std::string(value, 'v')
           + R"("})";
  };
  check_fine(header(76, 998));
  check_refused(header(77, 1), "/headers/" + std::string(77, 'X'));
  check_refused(header(1, 999), "/headers/X", "998");
  const auto tag = [](std::size_t name, std::size_t value) {
    return R"("tags":{")" + std::string(name, 't') + R"(":")" + std::string(value, 'v') + R"("})";
  };
  check_fine(tag(64, 256));
  check_refused(tag(65, 1), "/tags/" + std::string(65, 't'));
  check_refused(tag(1, 257), "/tags/t", "256");
  const auto fields = [](std::size_t size) {
    return R"("fields":{"a":")" + std::string(size - 8, 'x') + R"("})";
  };
  check_fine(fields(65536));
  check_refused(fields(65537), "/fields", "65536");
  const auto html = [](std::size_t size) { return R"("html":")" + std::string(size, 'x') + "\""; };
  check_fine(html(1 << 20));
  check_refused(html((1 << 20) + 1), "/html", "1048576");
  const auto with_subject = [](std::size_t size) {
    return send(R"({"from":"a@b.de","to":"x@b.de","text":"t","subject":")" + std::string(size, 's')
                + "\"}");
  };
  BOOST_TEST(with_subject(998).problems.is_empty());
  BOOST_TEST(with_subject(999).names("/subject"));
  BOOST_TEST(with_subject(0).names("/subject"));
}

BOOST_AUTO_TEST_CASE(the_number_of_headers_and_tags_is_bounded) {
  const auto members = [](int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
      all += (i > 0 ? ",\"N" : "\"N") + std::to_string(i) + "\":\"v\"";
    return "{" + all + "}";
  };
  check_fine("\"headers\":" + members(50) + ",\"tags\":" + members(10));
  check_refused("\"headers\":" + members(51), "/headers", "at most 50");
  check_refused("\"tags\":" + members(11), "/tags", "at most 10");
}

BOOST_AUTO_TEST_CASE(numbers_out_of_range_get_the_range) {
  for (const auto* bad :
       {"-1", "101", "2147483648", "9223372036854775808", "1e308", "0.5", "1e1", "5.0", "\"5\"",
        "null", "true", "[]", "{}", "-0.0", "99999999999999999999999999999999"})
    check_refused("\"priority\":" + std::string{bad}, "/priority", "from 0 to 100");
  for (const auto* fine : {"0", "1", "100"})
    check_fine("\"priority\":" + std::string{fine});
}

BOOST_AUTO_TEST_CASE(times_out_of_range_get_the_range) {
  for (const auto* bad :
       {"0", "-1", "2147483648", "1e308", "\"\"", "\"now\"", "null", "\"9999-12-31T23:59:59Z\"",
        "\"2026-06-01T12:00:00\"", "\"2026-06-01T12:00:00+14:01\"", "\"2026-06-01T12:00:00-14:01\"",
        "\"2026-06-01\"", "\"1969-12-31T23:59:59Z\"", "\"2026-02-30T12:00:00Z\"",
        "\"2026-06-01T10:59:59Z\"", "\"2027-06-02T12:00:01Z\""})
    check_refused("\"send_at\":" + std::string{bad}, "/send_at",
                  "from 1 hour ago to 366 days ahead");
  for (const auto* fine : {"2026-06-01T11:00:00Z", "2027-06-02T12:00:00Z",
                           "2026-06-02T02:00:00+14:00", "2026-06-01t12:00:00.123456789z"})
    check_fine("\"send_at\":\"" + std::string{fine} + "\"");
  for (const auto* bad :
       {"\"2026-06-01T11:59:59Z\"", "\"2026-06-01T12:00:00Z\"", "\"9999-12-31T23:59:59Z\""})
    check_refused("\"expires_at\":" + std::string{bad}, "/expires_at");
  check_refused(R"("send_at":"2026-06-01T13:00:00Z","expires_at":"2026-06-01T13:00:00Z")",
                "/expires_at", "after send_at");
  check_fine(R"("send_at":"2026-06-01T13:00:00Z","expires_at":"2026-06-01T13:00:01Z")");
}

BOOST_AUTO_TEST_CASE(templates_must_compile) {
  const std::string begin = R"({"from":"a@b.de","to":"x@b.de",)";
  BOOST_TEST(send(begin + R"("subject":"{{a","text":"t"})").names("/subject"));
  BOOST_TEST(send(begin + R"("subject":"s","text":"{{#a}}"})").names("/text"));
  BOOST_TEST(send(begin + R"("subject":"s","html":"{{> a}}"})").names("/html"));
}

BOOST_AUTO_TEST_CASE(the_list_of_problems_ends_at_50) {
  std::string many = "{";
  for (int i = 0; i < 200; ++i)
    many += "\"k" + std::to_string(i) + "\":1,";
  const auto read = send(many + "\"z\":1}");
  BOOST_TEST(read.problems.size() == 50u);
}

BOOST_AUTO_TEST_CASE(a_body_that_is_no_object_is_refused) {
  for (const auto* body : {"[]", "7", "\"x\"", "null"})
    BOOST_TEST(send(body).names(""), body);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
