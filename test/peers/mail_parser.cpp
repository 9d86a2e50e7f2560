/// Composed mail as npm's mailparser reads it, field by field.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <rapidjson/document.h>
#include <unistd.h>

#include "test/peers/node_peer.hpp"
#include "test/support/run_program.hpp"
#include "transport/mail/address.hpp"
#include "transport/mail/composer.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr std::int64_t sent_at = 1'796'000'000;

/// A message and what a reader must find in it.
struct specimen {
  std::string name;
  content what;
  due_message row;
  bool has_links = false;
  std::vector<mail_address> to, cc, reply_to;
  mail_address from{"Example News", "news@example.com"};
  std::string domain = "example.com"; ///< of the Message-ID
  std::string subject, text, html;
  std::vector<std::pair<std::string, std::string>> headers; ///< lower case
  std::vector<std::size_t> attachments; ///< of the content's, in the order of the parts
};

specimen make_specimen(std::string name) {
  specimen made;
  made.name = std::move(name);
  made.what.id = content_id{9};
  made.what.sender = "Example News <news@example.com>";
  made.what.subject = made.subject = "Hello";
  made.row.of = {message_id{1234567}, 3};
  made.row.project = project_id{1};
  made.row.stream = stream_id{2};
  made.row.recipients = {"anna@example.org"};
  made.row.fields = "{}";
  made.to = {{"", "anna@example.org"}};
  return made;
}

std::string octets(std::size_t size) {
  std::string made;
  for (std::size_t i = 0; i < size; ++i)
    made += static_cast<char>(i * 31 + i / 256);
  return made;
}

std::string many(const std::string& text, int times) {
  std::string made;
  for (int i = 0; i < times; ++i)
    made += text;
  return made;
}

const attachment logo{"logo \xf0\x9f\x8e\x89.png", "image/png", "logo@example.com", octets(3000)};
const attachment report{"\xc3\x9c"
                        "bersicht 2026.pdf",
                        "application/pdf", "", octets(70'000)};
const attachment notes{"notes.txt", "text/plain", "", "From here\n.\n"};

void add_bodies(std::vector<specimen>& all) {
  auto one = make_specimen("text");
  one.what.text_body = "Dear {{name}},\n.dot\nFrom here \n\tJ\xc3\xb6rg";
  one.row.fields = R"({"name":"Zo\u00eb"})";
  one.text = "Dear Zo\xc3\xab,\n.dot\nFrom here \n\tJ\xc3\xb6rg";
  all.push_back(one);
  one = make_specimen("HTML");
  one.what.html_body = "<p>{{name}}</p>" + many("<b>\xe6\x97\xa5\xe6\x9c\xac</b>", 2000);
  one.row.fields = R"({"name":"A & B"})";
  one.html = "<p>A &amp; B</p>" + many("<b>\xe6\x97\xa5\xe6\x9c\xac</b>", 2000);
  all.push_back(one);
  one = make_specimen("both");
  one.what.text_body = one.text = "plain";
  one.what.html_body = one.html = "<p>rich</p>";
  all.push_back(one);
  one = make_specimen("empty text");
  one.what.text_body = "{{#nobody}}x{{/nobody}}";
  all.push_back(one);
  one = make_specimen("attachments");
  one.what.text_body = one.text = "see below";
  one.what.attachments = {report, notes};
  one.attachments = {0, 1};
  all.push_back(one);
  one = make_specimen("inline image and attachment");
  one.what.text_body = one.text = "plain";
  one.what.html_body = one.html = "<img src=\"cid:logo@example.com\">";
  one.what.attachments = {report, logo};
  one.attachments = {1, 0};
  all.push_back(one);
}

void add_heads(std::vector<specimen>& all) {
  auto one = make_specimen("long subject");
  one.what.subject = one.subject = many("\xd0\xa1\xd0\xb0\xd0\xbc\xd0\xbe\xd0\xb5 \xe9\x95\xb7 "
                                        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 word ",
                                        15)
                                   + "end";
  one.what.text_body = one.text = "t";
  all.push_back(one);
  one = make_specimen("emoji names");
  one.what.sender = "\"\xf0\x9f\x8e\x89 Shop, \\\"best\\\"\" <news@b\xc3\xbc"
                    "cher.example>";
  one.from = {"\xf0\x9f\x8e\x89 Shop, \"best\"", "news@b\xc3\xbc"
                                                 "cher.example"}; // as a reader shows it
  one.domain = "xn--bcher-kva.example";
  one.row.addresses = "{\"to\":[\"\xf0\x9f\x91\xa9 Anna <anna@example.org>\"],"
                      "\"cc\":[\"\\\"Doe, J.\\\" <doe@example.org>\"],\"bcc\":[\"b@example.org\"]}";
  one.row.recipients = {"anna@example.org", "doe@example.org", "b@example.org"};
  one.to = {{"\xf0\x9f\x91\xa9 Anna", "anna@example.org"}};
  one.cc = {{"Doe, J.", "doe@example.org"}};
  one.what.text_body = one.text = "t";
  all.push_back(one);
  one = make_specimen("right to left");
  one.what.subject = one.subject = "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d, world \xd9\x85\xd8\xb1";
  one.what.text_body = one.text =
      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d\n\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7";
  one.what.html_body = one.html = "<p dir=\"rtl\">\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d</p>";
  all.push_back(one);
  one = make_specimen("custom headers");
  one.what.headers = R"({"Reply-To":"Team <team@example.com>, \"A, B\" <ab@example.com>",)"
                     R"("X-Campaign":"{{name}} =?x?","X-Long":"{{long}}"})";
  one.row.fields = "{\"name\":\"Fr\xc3\xbchling\",\"long\":\"" + many("value ", 60) + "x\"}";
  one.reply_to = {{"Team", "team@example.com"}, {"A, B", "ab@example.com"}};
  one.headers = {{"x-campaign", "Fr\xc3\xbchling =?x?"}, {"x-long", many("value ", 60) + "x"}};
  one.what.text_body = one.text = "t";
  all.push_back(one);
  one = make_specimen("list headers");
  one.has_links = true;
  one.what.text_body = one.text = "t";
  all.push_back(one);
  one = make_specimen("50 recipients");
  one.row.recipients.clear();
  one.to.clear();
  for (int i = 0; i < 50; ++i) {
    one.row.recipients.push_back("recipient" + std::to_string(i) + "@example.org");
    one.to.push_back({"", one.row.recipients.back()});
  }
  one.what.text_body = one.text = "t";
  all.push_back(one);
}

/// Files that go with this.
class mail_files {
public:
  mail_files() { std::filesystem::create_directory(folder_); }
  ~mail_files() { std::filesystem::remove_all(folder_); }
  mail_files(const mail_files&) = delete;
  mail_files& operator=(const mail_files&) = delete;

  std::string add(const outgoing_message& message) {
    const auto path = folder_ / (std::to_string(++count_) + ".eml");
    std::ofstream file{path, std::ios::binary};
    file << message.raw << (message.raw_tail ? *message.raw_tail : "");
    return path.string();
  }

private:
  int count_ = 0;
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("paceline-mail-" + std::to_string(::getpid()));
};

std::string text_of(const rapidjson::Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

void check_people(const rapidjson::Value& found, const std::vector<mail_address>& expected) {
  BOOST_REQUIRE(found.Size() == expected.size());
  for (rapidjson::SizeType i = 0; i < found.Size(); ++i) {
    BOOST_TEST(text_of(found[i]["name"]) == expected[i].name);
    BOOST_TEST(text_of(found[i]["address"]) == expected[i].address);
  }
}

std::string hex(const std::string& text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string made;
  for (const char c : text)
    (made += digits[static_cast<unsigned char>(c) >> 4]) += digits[c & 15];
  return made;
}

void check_attachments(const rapidjson::Value& found, const specimen& expected) {
  BOOST_REQUIRE(found.Size() == expected.attachments.size());
  for (rapidjson::SizeType i = 0; i < found.Size(); ++i) {
    const auto& one = expected.what.attachments[expected.attachments[i]];
    const bool is_inline = !one.content_id.empty();
    BOOST_TEST(text_of(found[i]["name"]) == one.name);
    BOOST_TEST(text_of(found[i]["type"]) == one.media_type);
    BOOST_TEST(text_of(found[i]["cid"]) == one.content_id);
    BOOST_TEST(text_of(found[i]["disposition"]) == (is_inline ? "inline" : "attachment"));
    BOOST_TEST(found[i]["related"].GetBool() == is_inline);
    BOOST_TEST((text_of(found[i]["hex"]) == hex(one.data)));
  }
}

/// mailparser drops line breaks at the end of a text.
std::string without_end(std::string text) {
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

void check_mail(const rapidjson::Value& found, const specimen& expected,
                const unsubscribe_links& links) {
  check_people(found["from"], {expected.from});
  check_people(found["to"], expected.to);
  check_people(found["cc"], expected.cc);
  check_people(found["replyTo"], expected.reply_to);
  BOOST_TEST(text_of(found["subject"]) == expected.subject);
  BOOST_TEST(text_of(found["messageId"]) == "<1234567.3@" + expected.domain + ">");
  BOOST_TEST(found["seconds"].GetInt64() == sent_at);
  BOOST_TEST(without_end(text_of(found["text"])) == expected.text);
  BOOST_TEST((without_end(text_of(found["html"])) == expected.html));
  for (const auto& [name, value] : expected.headers) {
    BOOST_REQUIRE(found["headers"].HasMember(name.c_str()));
    BOOST_TEST(text_of(found["headers"][name.c_str()]) == value);
  }
  check_attachments(found["attachments"], expected);
  const auto& counts = found["counts"];
  for (const char* once : {"from", "to", "subject", "date", "message-id", "mime-version"})
    BOOST_TEST(counts[once].GetInt() == 1, once);
  BOOST_TEST(!counts.HasMember("bcc"));
  BOOST_TEST(counts.HasMember("list-unsubscribe") == expected.has_links);
  if (!expected.has_links)
    return;
  BOOST_TEST(counts["list-unsubscribe"].GetInt() == 1);
  BOOST_TEST(counts["list-unsubscribe-post"].GetInt() == 1);
  BOOST_TEST(text_of(found["list"]["unsubscribe"]["url"])
             == links.link({expected.row.project, "live", expected.row.stream,
                            expected.row.recipients.front()}));
  BOOST_TEST(text_of(found["list"]["unsubscribe-post"]["name"]) == "List-Unsubscribe=One-Click");
}

} // namespace

BOOST_AUTO_TEST_SUITE(mail_parser)

BOOST_AUTO_TEST_CASE(every_kind_of_message_reads_as_it_was_meant) {
  const auto script = peer_script("mail_parser.mjs");
  if (!script)
    return;
  std::vector<specimen> all;
  add_bodies(all);
  add_heads(all);
  const unsubscribe_links links{"https://mail.example.com", {std::string(32, 'k')}};
  mail_files files;
  std::vector<std::string> command{"node", *script};
  for (const auto& one : all) {
    const auto composer = mail_composer::compile(one.what, {mail_form::raw});
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(composer), (composer ? "" : composer.failure().text));
    const auto message =
        composer->compose({one.row, sent_at, one.has_links ? &links : nullptr, "live"});
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(message), (message ? "" : message.failure().text));
    command.push_back(files.add(*message));
  }
  const auto end = run_program(command);
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  rapidjson::Document found;
  BOOST_REQUIRE(!found.Parse(end.output.data(), end.output.size()).HasParseError());
  BOOST_REQUIRE(found.Size() == all.size());
  for (rapidjson::SizeType i = 0; i < found.Size(); ++i)
    BOOST_TEST_CONTEXT(all[i].name) check_mail(found[i], all[i], links);
}

BOOST_AUTO_TEST_SUITE_END()
