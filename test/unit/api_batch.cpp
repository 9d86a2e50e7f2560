#include "test/unit/api_support.hpp"
#include "transport/api/campaign_request.hpp"
#include "transport/api/mailboxes.hpp"

namespace paceline::test {
namespace {

const std::string shared = R"("content":{"from":"a@b.de","subject":"Hi {{n}}","text":"t"})";

reading<campaign_request> campaign(const std::string& more) {
  return read_body(R"({"name":"June","from":"a@b.de","subject":"s","text":"t")" + more + "}",
                   read_campaign);
}

std::string many(int count, const std::string& one) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += (i > 0 ? "," : "") + one;
  return "[" + all + "]";
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_batch)

BOOST_AUTO_TEST_CASE(messages_share_one_content_and_the_batchs_options) {
  const auto read =
      batch("{" + shared + R"(,"tags":{"t":"1"},"send_at":"2026-06-01T13:00:00Z","messages":[
      {"to":"x@b.de","fields":{"n":1}},
      {"to":["y@b.de","z@b.de"],"tags":{"u":"2"},"send_at":"2026-06-01T12:30:00Z"}]})");
  BOOST_TEST(read.problems.is_empty(), read.text());
  const auto& made = read.made;
  BOOST_TEST(made.contents.size() == 1u);
  BOOST_TEST(made.content_is_shared);
  BOOST_TEST(made.priority == 50);
  BOOST_TEST(made.recipients() == 3u);
  BOOST_REQUIRE(made.messages.size() == 2u);
  BOOST_TEST(made.messages[0].tags.value() == R"({"t":"1"})");
  BOOST_TEST(made.messages[1].tags.value() == R"({"u":"2"})");
  BOOST_TEST(made.messages[0].send_at.value() == noon + 3'600'000'000);
  BOOST_TEST(made.messages[1].send_at.value() == noon + 1'800'000'000);
  BOOST_TEST(made.messages[1].content == 0u);
}

BOOST_AUTO_TEST_CASE(messages_may_have_contents_of_their_own) {
  const std::string one = R"("from":"a@b.de","subject":"s","text":"t")";
  const auto read =
      batch(R"({"messages":[{"to":"x@b.de",)" + one + R"(},{"to":"y@b.de",)" + one + "}]}");
  BOOST_TEST(read.problems.is_empty(), read.text());
  BOOST_TEST(read.made.contents.size() == 2u);
  BOOST_TEST(read.made.messages[1].content == 1u);
  const auto without = batch(R"({"messages":[{"to":"x@b.de"}]})");
  BOOST_TEST(without.names("/messages/0/from"), without.text());
  const auto both = batch("{" + shared + R"(,"messages":[{"to":"x@b.de","subject":"s"}]})");
  BOOST_TEST(both.names("/messages/0"), both.text());
}

BOOST_AUTO_TEST_CASE(problems_name_the_message) {
  const auto read = batch("{" + shared + R"(,"messages":[{"to":"x@b.de"},{"to":["a@b.de","b"]},
      {"fields":{}},{"to":"x@b.de","fields":{"n":"\r\n"}},7,{"to":"x@b.de","priority":1}]})");
  for (const auto* pointer : {"/messages/1/to/1", "/messages/2/to", "/messages/3/fields",
                              "/messages/4", "/messages/5/priority"})
    BOOST_TEST(read.names(pointer), pointer << " is missing in " << read.text());
}

BOOST_AUTO_TEST_CASE(a_batch_has_1_to_5000_messages) {
  const auto sized = [](int count) {
    return batch("{" + shared + ",\"messages\":" + many(count, R"({"to":"x@b.de"})") + "}");
  };
  BOOST_TEST(sized(0).names("/messages"));
  BOOST_TEST(sized(1).problems.is_empty());
  BOOST_TEST(sized(5000).problems.is_empty());
  BOOST_TEST(sized(5000).made.messages.size() == 5000u);
  BOOST_TEST(sized(5001).names("/messages"));
  BOOST_TEST(batch("{" + shared + "}").names("/messages"));
}

BOOST_AUTO_TEST_CASE(a_messages_time_is_held_against_the_batchs_other_time) {
  const auto read = batch("{" + shared + R"(,"expires_at":"2026-06-01T13:00:00Z","messages":[
      {"to":"x@b.de","send_at":"2026-06-01T14:00:00Z"}]})");
  BOOST_TEST(read.names("/messages/0/send_at"), read.text());
}

BOOST_AUTO_TEST_CASE(a_campaign_has_its_defaults_and_ranges) {
  const auto read = campaign("");
  BOOST_TEST(read.problems.is_empty(), read.text());
  BOOST_TEST(read.made.priority == 50);
  BOOST_TEST(read.made.weight == 100);
  BOOST_TEST(!read.made.rate_cap);
  BOOST_TEST(campaign(R"(,"rate_cap":0.001,"weight":1000)").problems.is_empty());
  for (const auto* bad : {"0", "-1", "1000001", "1e308", "\"1\"", "0.0001", "null"})
    BOOST_TEST(campaign(",\"rate_cap\":" + std::string{bad}).names("/rate_cap"), bad);
  for (const auto* bad : {"0", "1001", "1.5"})
    BOOST_TEST(campaign(",\"weight\":" + std::string{bad}).names("/weight"), bad);
  BOOST_TEST(campaign(R"(,"send_at":"2026-06-01T13:00:00Z")").names("/send_at"));
}

BOOST_AUTO_TEST_CASE(a_campaigns_recipients_are_pages_of_5000) {
  const auto page = [](int count) {
    return read_body("{\"recipients\":" + many(count, R"({"to":"X@b.de","fields":{"a":1}})") + "}",
                     read_recipients);
  };
  BOOST_TEST(page(0).names("/recipients"));
  const auto full = page(5000);
  BOOST_TEST(full.problems.is_empty(), full.text());
  BOOST_TEST(full.made.back().recipient == "x@b.de");
  BOOST_TEST(full.made.back().fields == R"({"a":1})");
  BOOST_TEST(page(5001).names("/recipients"));
  BOOST_TEST(
      campaign(R"(,"recipients":[{"to":"x@b.de"},{"to":"A <y@b.de>"}])").names("/recipients/1/to"));
}

BOOST_AUTO_TEST_CASE(suppressions_are_one_address_or_many) {
  const auto read = [](const std::string& body) { return read_body(body, read_suppressions); };
  const auto one = read(R"({"address":" TEST@test.com "})");
  BOOST_TEST(one.problems.is_empty(), one.text());
  BOOST_TEST(one.made.addresses.at(0) == "test@test.com");
  BOOST_TEST(one.made.reason == "operator");
  BOOST_TEST(read(R"({"addresses":["a@b.de","b@b.de"],"reason":"bounce"})").problems.is_empty());
  BOOST_TEST(read(R"({})").names("/addresses"));
  BOOST_TEST(read(R"({"address":"a@b.de","addresses":["a@b.de"]})").names("/addresses"));
  BOOST_TEST(read(R"({"addresses":["a@b.de","b"]})").names("/addresses/1"));
  BOOST_TEST(read(R"({"address":"a@b.de","reason":"x"})").names("/reason"));
}

BOOST_AUTO_TEST_CASE(a_sender_is_of_an_allowed_domain_or_below_one) {
  BOOST_TEST(is_sender_domain("shop.de", {}));
  BOOST_TEST(is_sender_domain("shop.de", {"other.de", "Shop.de"}));
  BOOST_TEST(is_sender_domain("mail.shop.de", {"shop.de"}));
  BOOST_TEST(!is_sender_domain("myshop.de", {"shop.de"}));
  BOOST_TEST(!is_sender_domain("shop.de", {"mail.shop.de"}));
  BOOST_TEST(domain_of("a@Mail.SHOP.de") == "mail.shop.de");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
