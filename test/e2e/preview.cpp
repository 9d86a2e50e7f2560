/// `paceline preview`, and what `send` says before it stores anything.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "test/support/installation.hpp"

namespace paceline::test {
namespace {

using texts = std::vector<std::string>;

/// Previews need no database; files and configuration are those of an installation.
struct preview_fixture {
  installation home{{}, false};

  program_end preview(texts more) {
    more.insert(more.begin(), "preview");
    return home.run(more);
  }
  program_end simple(texts more) {
    more.insert(more.end(), {"--from", "Shop <shop@example.com>", "--subject", "Order {{number}}",
                             "--text", "Hi {{name}}"});
    return preview(more);
  }
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(preview, preview_fixture)

BOOST_AUTO_TEST_CASE(a_preview_shows_the_message_and_names_what_is_missing) {
  const auto end = simple({"--fields", R"({"number": 17})"});
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.output, "Subject:  Order 17\n"), end.output);
  BOOST_TEST(holds(end.output, "Hi \n"), end.output);
  BOOST_TEST(holds(end.errors, "{{name}}"), end.errors);
  const auto filled = simple({"--field", "number=17", "--default", "name=friend"});
  BOOST_TEST(holds(filled.output, "Hi friend\n"), filled.output);
  BOOST_TEST(filled.errors == "");
  const auto rejected = simple({"--field", "number=17", "--missing", "reject"});
  BOOST_TEST(rejected.status == 2);
  BOOST_TEST(holds(rejected.errors, "name"), rejected.errors);
}

BOOST_AUTO_TEST_CASE(a_preview_as_json_has_the_same_members_as_the_api) {
  const auto end = simple({"--field", "number=17", "--header", "X-Order={{number}}", "--json"});
  rapidjson::Document read;
  read.Parse(end.output.c_str());
  BOOST_REQUIRE(!read.HasParseError());
  BOOST_TEST(std::string{read["subject"].GetString()} == "Order 17");
  BOOST_TEST(std::string{read["headers"]["X-Order"].GetString()} == "17");
  BOOST_TEST(read["fields"].Size() == 2u);
  BOOST_TEST(std::string{read["missing"][0].GetString()} == "name");
  BOOST_TEST(read["size"].GetInt() > 200);
}

BOOST_AUTO_TEST_CASE(raw_is_the_whole_message_with_its_files) {
  const auto attached = home.write("offer.pdf", std::string("\0\1\2\xff", 4));
  const auto shown = home.write("logo.png", "png");
  const auto end =
      simple({"--field", "number=17", "--field", "name=Zo\xc3\xab", "--html",
              "<img src=\"cid:logo.png\">", "--attach", attached, "--inline", shown, "--reply-to",
              "Help <help@example.com>", "--to", "anna@example.com", "--raw"});
  BOOST_TEST(end.status == 0, end.errors);
  for (const auto* part : {"From: Shop <shop@example.com>\r\n", "To: anna@example.com\r\n",
                           "Reply-To: Help <help@example.com>\r\n", "application/pdf", "offer.pdf",
                           "AAEC/w==", "Content-Id: <logo.png>", "image/png"}) {
    std::string wanted = part, got = end.output;
    const auto lower = [](std::string& text) {
      for (auto& c : text)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    };
    lower(wanted);
    lower(got);
    BOOST_TEST(holds(got, wanted), part << " is missing in\n" << end.output);
  }
}

BOOST_AUTO_TEST_CASE(a_file_holds_a_body_of_the_api) {
  const auto good = home.write("content.json", R"({"from":"a@example.com","subject":"s {{n}}",)"
                                               R"("text":"t","fields":{"n":1}})");
  BOOST_TEST(holds(preview({"--file", good}).output, "Subject:  s 1\n"));
  BOOST_TEST(holds(preview({"--file", good, "--fields", R"({"n":2})"}).output, "s 2\n"));
  const auto bad = preview({"--file", home.write("bad.json", R"({"from":"a","sbj":"s"})")});
  BOOST_TEST(bad.status == 2);
  for (const auto* pointer : {"/from", "/subject", "/text", "/sbj"})
    BOOST_TEST(holds(bad.errors, pointer), bad.errors);
  BOOST_TEST(preview({"--file", home.write("none.json", "{")}).status == 2);
  BOOST_TEST(preview({"--file", home.write("x", "") + "y"}).status == 2);
}

BOOST_AUTO_TEST_CASE(wrong_use_is_told_by_its_option) {
  const std::pair<texts, const char*> wrong[] = {
      {{"--header", "X-A"}, "--header X-A"},
      {{"--header", "Bcc=x@example.net"}, "--header Bcc"},
      {{"--header", "X-A=a\nBcc: x@example.net"}, "--header X-A"},
      {{"--header", "X-A=1", "--header", "x-a=2"}, "twice"},
      {{"--reply-to", "nobody"}, "--reply-to"},
      {{"--missing", "ignore"}, "--missing"},
      {{"--missing", "reject", "--default", "a=b"}, "--default"},
      {{"--attach", "/nowhere/file.pdf"}, "file.pdf"},
      {{"--inline", home.write("a logo.png", "x")}, "a logo.png"},
      {{"--fields", "[]"}, "object"},
      {{"--field", "a=b", "--fields", "{}"}, "--fields"},
      {{"--to", "nobody"}, "--to"},
      {{"--route", "nowhere"}, "route"}};
  for (const auto& [options, says] : wrong) {
    const auto end = simple(options);
    BOOST_TEST(end.status == 2, options[0] << " gave " << end.status << ": " << end.errors);
    BOOST_TEST(holds(end.errors, says), options[0] << ": " << end.errors);
    BOOST_TEST(end.output == "");
  }
}

BOOST_AUTO_TEST_CASE(fields_that_no_recipient_has_are_warned_of) {
  const auto people = home.write("people.csv", "email,name,town\na@example.com,,\n"
                                               "b@example.com,Bob,\n");
  const auto end = preview({"--csv", people, "--from", "a@example.com", "--subject", "{{nmae}}",
                            "--text", "{{name}} {{town}}"});
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "{{nmae}}, {{town}}"), end.errors);
  BOOST_TEST(!holds(end.errors, "{{name}}"), end.errors);
  const auto known =
      preview({"--csv", people, "--from", "a@example.com", "--subject", "s", "--text",
               "{{name}} {{town}}", "--default", "town=here", "--default", "name=you"});
  BOOST_TEST(known.errors == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(send_with_more)

BOOST_AUTO_TEST_CASE(a_campaign_is_stored_with_its_files_and_told_what_is_odd) {
  installation home;
  const auto file = home.write("offer.pdf", std::string("\0\xff", 2));
  const auto end =
      home.run(home.send_command({"r1@example.com"}, {"--attach", file, "--header", "X-Issue=7",
                                                      "--html", "<p>{{nmae}}</p>"}));
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "{{nmae}}"), end.errors);
  BOOST_TEST(home.ask("SELECT name || ' ' || media_type || ' ' || encode(data, 'hex') "
                      "FROM content_attachments")
             == "offer.pdf application/pdf 00ff");
  BOOST_TEST(home.ask("SELECT headers FROM contents") == R"({"X-Issue":"7"})");
  const auto later = home.run(home.send_command(
      {"r1@example.com"}, {"--default", "name=friend", "--html", "<p>{{name}}</p>"}));
  BOOST_TEST(later.errors == "");
  BOOST_TEST(home.ask("SELECT missing || ' ' || defaults FROM contents ORDER BY id DESC LIMIT 1")
             == R"(1 {"name":"friend"})");
  BOOST_TEST(home.count("SELECT count(*) FROM audit_log WHERE action = 'campaign.send' "
                        "AND actor LIKE 'cli:%' AND subject IN (SELECT id::text FROM campaigns)")
             == 2);
}

BOOST_AUTO_TEST_CASE(messages_are_canceled_one_by_one_and_the_trail_has_them) {
  installation home;
  for (int i = 0; i < 3; ++i)
    home.must_run({"send", "--route", "test:sim", "--from", "a@example.com", "--to",
                   "r1@example.com", "--subject", "s", "--text", "t", "--send-in", "1h"});
  BOOST_TEST(home.count("SELECT count(*) FROM audit_log WHERE action = 'message.send'") == 3);
  const auto first = home.ask("SELECT min(id) FROM messages");
  const auto last = home.ask("SELECT max(id) FROM messages");
  const auto end = home.run({"messages", "cancel", first, "17", last});
  BOOST_TEST(end.status == 1);
  BOOST_TEST(holds(end.errors, "17"), end.errors);
  BOOST_TEST(holds(end.output, first + " is canceled"), end.output);
  BOOST_TEST(holds(end.output, last + " is canceled"), end.output);
  BOOST_TEST(home.count("SELECT count(*) FROM message_states WHERE status = 11") == 2);
  BOOST_TEST(home.count("SELECT count(*) FROM audit_log WHERE action = 'message.cancel'") == 2);
  BOOST_TEST(home.run({"messages", "cancel", "x"}).status == 2);
  const auto again = home.must_run({"messages", "cancel", first, "--json"});
  BOOST_TEST(holds(again, "\"" + first + "\""), again);
}

BOOST_AUTO_TEST_CASE(a_campaign_shows_why_it_or_its_route_waits) {
  installation home;
  const auto campaign = std::to_string(home.send(1));
  home.ask("UPDATE routes SET state = 'waiting', state_reason = 'provider unreachable: refused', "
           "waiting_until = clock_timestamp() + interval '1 hour'");
  BOOST_TEST(holds(home.must_run({"campaigns", "show", campaign}),
                   "test:sim is waiting: provider unreachable: refused"));
  BOOST_TEST(holds(home.must_run({"status"}), "provider unreachable: refused"));
  home.ask("UPDATE campaigns SET state = 'paused'");
  home.ask("UPDATE streams SET state = 'paused', state_reason = 'sender not verified'");
  for (const texts& command : {texts{"campaigns", "show", campaign}, texts{"campaigns", "list"},
                               texts{"status"}, texts{"campaigns", "list", "--json"}})
    BOOST_TEST(holds(home.must_run(command), "sender not verified"), command[0]);
  home.must_run({"campaigns", "resume", campaign});
  BOOST_TEST(!holds(home.must_run({"campaigns", "show", campaign}), "sender not verified"));
  home.must_run({"campaigns", "cancel", campaign});
  BOOST_TEST(home.state_of(std::stoll(campaign)) == "canceled");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
