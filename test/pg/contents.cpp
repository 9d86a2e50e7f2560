/// Contents with attachments, and what becomes of missing fields: stored as a whole, and unchanged.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/drafts.hpp"
#include "storage/intake.hpp"
#include "storage/messages.hpp"
#include "storage/streams.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

/// All octets, so that none of them is mistaken for text on the way.
std::string all_octets() {
  std::string octets;
  for (int i = 0; i < 256; ++i)
    octets += static_cast<char>(i);
  return octets;
}

content full_content() {
  content what;
  what.sender = "a@example.org";
  what.subject = "Hello {{name}}";
  what.headers = R"({"X-Of": "{{name}}"})";
  what.missing = missing_field::fallback;
  what.defaults = R"({"name":  "you"})";
  what.attachments = {{"räport, \"1\".pdf", "application/pdf", "", all_octets()},
                      {"logo.png", "image/png", "logo@example.org", ""}};
  return what;
}

struct contents_fixture : dispatch_fixture {
  void check_stored(content_id id) {
    const auto found = must(load_content(*db, id));
    const auto given = full_content();
    BOOST_TEST((found.missing == given.missing));
    BOOST_TEST(found.defaults == given.defaults);
    BOOST_TEST(found.headers == given.headers);
    BOOST_REQUIRE(found.attachments.size() == 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      BOOST_TEST(found.attachments[i].name == given.attachments[i].name);
      BOOST_TEST(found.attachments[i].media_type == given.attachments[i].media_type);
      BOOST_TEST(found.attachments[i].content_id == given.attachments[i].content_id);
      BOOST_TEST(found.attachments[i].data == given.attachments[i].data);
    }
  }
  content_id only_content() { return content_id{std::stoll(ask("SELECT id FROM contents"))}; }
};

std::string hex(const content& what) {
  std::string text;
  for (const auto byte : content_hash(what)) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(contents, contents_fixture)

BOOST_AUTO_TEST_CASE(a_content_without_anything_new_keeps_the_hash_it_always_had) {
  content what;
  what.sender = "a@example.org";
  what.subject = "Hello";
  what.text_body = "Dear {{name}}";
  // printf '13:a@example.org5:Hello13:Dear {{name}}0:2:{}' | sha256sum
  BOOST_TEST(hex(what) == "e2851edd4cd406091f45b065e70837eb9dda3c41850b85a48957e25c66a96b57");
}

BOOST_AUTO_TEST_CASE(every_part_takes_part_in_the_hash) {
  const auto whole = full_content();
  std::vector<content> others(8, whole);
  others[0].missing = missing_field::reject;
  others[1].defaults = "{}";
  others[2].attachments.pop_back();
  others[3].attachments[0].name = "x";
  others[4].attachments[0].media_type = "text/plain";
  others[5].attachments[0].content_id = "c";
  others[6].attachments[0].data += 'x';
  std::swap(others[7].attachments[0], others[7].attachments[1]);
  for (const auto& other : others)
    BOOST_TEST(hex(other) != hex(whole));
}

BOOST_AUTO_TEST_CASE(a_message_is_taken_in_with_its_attachments) {
  new_message message;
  message.route = route;
  message.what = full_content();
  message.recipients = {"r@example.org"};
  must(accept_message(*db, ids, message));
  check_stored(only_content());
}

BOOST_AUTO_TEST_CASE(a_campaign_and_a_draft_are_stored_with_their_attachments) {
  new_campaign campaign;
  campaign.name = "spring";
  campaign.route = route;
  campaign.what = full_content();
  bool given = false;
  must(start_campaign(*db, ids, campaign, [&given]() -> result<std::optional<audience_member>> {
    if (std::exchange(given, true))
      return std::optional<audience_member>{};
    return std::optional{audience_member{"r@example.org", "{}"}};
  }));
  check_stored(only_content());
  ask("DELETE FROM campaigns");
  ask("DELETE FROM contents");
  new_draft draft;
  draft.id = stream_id{ids.next(1)};
  draft.name = "summer";
  draft.route = route;
  draft.what = full_content();
  must(create_draft(*db, ids, draft, "test", {}, "cli:test"));
  check_stored(only_content());
}

BOOST_AUTO_TEST_CASE(a_call_that_is_not_stored_leaves_no_attachment) {
  const auto direct = must(direct_stream(*db, route, project_id{1}));
  std::vector<intake_call> calls(2);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto& call = calls[i];
    call.environment = "test";
    call.route = route;
    call.stream = direct;
    call.key = key_id{i == 0 ? 0 : 77}; // the second has a key that there is not
    call.contents.push_back(full_content());
    call.contents[0].id = content_id{ids.next(1)};
    call.messages.emplace_back().id = message_id{ids.next(1)};
    call.messages[0].recipients = {"r@example.org"};
  }
  const std::vector<const intake_call*> both{&calls[0], &calls[1]};
  const auto replies = must(take_in(*db, both));
  BOOST_TEST((replies.at(1).verdict == intake_verdict::key_ended));
  BOOST_TEST(ask("SELECT count(*) FROM content_attachments") == "2");
  check_stored(calls[0].contents[0].id);
}

BOOST_AUTO_TEST_CASE(an_edited_attachment_is_noticed) {
  new_message message;
  message.route = route;
  message.what = full_content();
  message.recipients = {"r@example.org"};
  must(accept_message(*db, ids, message));
  ask("UPDATE content_attachments SET data = 'x' WHERE position = 1");
  BOOST_TEST((load_content(*db, only_content()).failure().kind == error_kind::data));
}

BOOST_AUTO_TEST_SUITE_END()
