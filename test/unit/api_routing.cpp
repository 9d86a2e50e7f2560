#include <boost/test/unit_test.hpp>

#include <array>

#include "transport/api/idempotency_header.hpp"
#include "transport/api/message_json.hpp"
#include "transport/api/query_fields.hpp"
#include "transport/api/routing.hpp"
#include "transport/api/service.hpp"

namespace paceline {
namespace {

constexpr std::array<route_shape, 5> table{{{"GET", "/v1/messages"},
                                            {"GET", "/v1/messages/{id}"},
                                            {"POST", "/v1/messages/{id}/cancel"},
                                            {"DELETE", "/v1/suppressions/{address}"},
                                            {"GET", "/v1/health/live"}}};

message_view queued() {
  message_view made;
  made.id = message_id{17};
  made.route = "test:sim";
  made.recipients = {"a@b.de"};
  made.created_at = made.due_at = made.changed_at = "2026-06-01T12:00:00.000Z";
  return made;
}

std::string types(const message_view& message) {
  std::string all;
  for (const auto& event : events_of(message))
    all += event.type + " ";
  return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_routing)

BOOST_AUTO_TEST_CASE(a_path_finds_its_route_and_parameters) {
  const auto found = find_route(table, "POST", "/v1/messages/17/cancel");
  BOOST_REQUIRE(found.index);
  BOOST_TEST(*found.index == 2u);
  BOOST_TEST(found.parameters.at(0) == "17");
  const auto address = find_route(table, "DELETE", "/v1/suppressions/a/b@x.de");
  BOOST_REQUIRE(address.index);
  BOOST_TEST(address.parameters.at(0) == "a/b@x.de");
}

BOOST_AUTO_TEST_CASE(paths_that_only_look_like_a_route_are_none) {
  for (const auto* path :
       {"", "/", "/v1", "/v1/messages/", "/v1/messages//cancel", "v1/messages",
        "/v1/messages/17/cancel/x", "/V1/messages", "/v1/suppressions", "/v1/suppressions/"}) {
    const auto found = find_route(table, "GET", path);
    BOOST_TEST(!found.index, path);
    BOOST_TEST(found.allow == "", path);
  }
  BOOST_TEST(find_route(table, "PUT", "/v1/messages").allow == "GET");
}

BOOST_AUTO_TEST_CASE(head_is_answered_for_health_alone) {
  BOOST_TEST((find_route(table, "HEAD", "/v1/health/live").index == std::size_t{4}));
  BOOST_TEST(find_route(table, "POST", "/v1/health/live").allow == "GET, HEAD");
  BOOST_TEST(!find_route(table, "HEAD", "/v1/messages").index);
  const admin_service admin{[] { return health{}; }, [] { return std::string{}; }};
  http_request request;
  request.method = "HEAD";
  request.path = "/v1/health/live";
  const auto with_head = admin.answer(request);
  request.method = "GET";
  BOOST_TEST(with_head.status == 200);
  BOOST_TEST(with_head.body == admin.answer(request).body);
}

BOOST_AUTO_TEST_CASE(a_query_parameter_is_known_and_there_once) {
  http_request request;
  request.query = {{"limit", "7"}, {"a", "x"}, {"a", "y"}, {"b", "1"}};
  query_fields query{request};
  BOOST_TEST(query.integer("limit", 1, 10).value() == 7);
  BOOST_TEST(!query.text("a"));
  BOOST_TEST(!query.finish());
  BOOST_REQUIRE(query.problems().size() == 2u);
  BOOST_TEST(query.problems().entries()[0].pointer == "?a");
  BOOST_TEST(query.problems().entries()[1].pointer == "?b");
  for (const auto* bad : {"0", "11", "-1", "1.5", "x", "9223372036854775808", ""}) {
    request.query = {{"limit", bad}};
    query_fields one{request};
    BOOST_TEST(!one.integer("limit", 1, 10));
    BOOST_TEST(!one.finish(), bad);
  }
}

BOOST_AUTO_TEST_CASE(a_cursor_is_good_for_its_own_list_only) {
  const auto cursor = make_cursor("m", "17");
  BOOST_TEST(read_cursor("m", cursor).value() == "17");
  BOOST_TEST(!read_cursor("c", cursor));
  BOOST_TEST(!read_cursor("m", cursor + "x"));
  BOOST_TEST(!read_cursor("m", "17"));
}

BOOST_AUTO_TEST_CASE(an_idempotency_key_is_printable_and_there_once) {
  http_request request;
  BOOST_TEST(!read_idempotency_key(request).key);
  request.headers = {{"idempotency-key", "a b~"}};
  BOOST_TEST(read_idempotency_key(request).key.value() == "a b~");
  for (const std::string& bad :
       {std::string{}, std::string{"\x01"}, std::string{"\xc3\xa4"}, std::string(256, 'a')}) {
    request.headers = {{"Idempotency-Key", bad}};
    BOOST_TEST(!read_idempotency_key(request).problem.empty(), bad);
  }
  request.headers = {{"Idempotency-Key", "a"}, {"idempotency-key", "a"}};
  BOOST_TEST(!read_idempotency_key(request).problem.empty());
}

BOOST_AUTO_TEST_CASE(requests_are_the_same_by_method_path_and_body) {
  http_request one;
  one.method = "POST";
  one.path = "/v1/send";
  one.body = "{}";
  auto other = one;
  other.headers = {{"X", "y"}};
  BOOST_TEST((request_hash(one) == request_hash(other)));
  other.body = "{ }";
  BOOST_TEST((request_hash(one) != request_hash(other)));
  other = one;
  other.path = "/v1/batch";
  BOOST_TEST((request_hash(one) != request_hash(other)));
}

BOOST_AUTO_TEST_CASE(a_key_is_held_by_one_request_at_a_time) {
  keys_in_work keys;
  auto held = keys.hold(project_id{1}, "test", "k");
  BOOST_TEST(held.has_value());
  BOOST_TEST(!keys.hold(project_id{1}, "test", "k"));
  BOOST_TEST(keys.hold(project_id{1}, "live", "k").has_value());
  BOOST_TEST(keys.hold(project_id{2}, "test", "k").has_value());
  held.reset();
  BOOST_TEST(keys.hold(project_id{1}, "test", "k").has_value());
}

BOOST_AUTO_TEST_CASE(events_are_what_the_row_says_in_order) {
  auto message = queued();
  BOOST_TEST(types(message) == "queued ");
  message.due_at = "2026-06-02T12:00:00.000Z";
  BOOST_TEST(types(message) == "queued scheduled ");
  message.started_at = "2026-06-02T12:00:00.100Z";
  message.status = message_status::attempting;
  BOOST_TEST(types(message) == "queued scheduled started ");
  message.status = message_status::acceptance_unknown;
  message.reason = reason_code::provider_timeout;
  BOOST_TEST(types(message) == "queued scheduled started acceptance_unknown ");
  BOOST_TEST(events_of(message).back().reason == "PROVIDER_TIMEOUT");
  message = queued();
  message.due_at = "2026-06-01T12:00:32.000Z"; // put off by a throttle: nobody planned that
  message.throttles = 1;
  BOOST_TEST(types(message) == "queued ");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline
