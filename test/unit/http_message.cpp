#include <boost/test/unit_test.hpp>

#include <rapidjson/document.h>

#include "transport/http/problem.hpp"

using namespace paceline;

BOOST_AUTO_TEST_SUITE(http_message)

BOOST_AUTO_TEST_CASE(headers_are_found_in_any_case_and_the_first_one_counts) {
  http_request request;
  request.headers = {{"X-One", "first"}, {"x-one", "second"}, {"Other", ""}};
  BOOST_TEST(request.header("x-ONE").value() == "first");
  BOOST_TEST(request.header("other").value() == "");
  BOOST_TEST(!request.header("x-on").has_value());
  BOOST_TEST(request.count("X-ONE") == 2u);
  BOOST_TEST(request.count("absent") == 0u);
}

BOOST_AUTO_TEST_CASE(a_problem_says_type_status_detail_and_each_wrong_field) {
  auto response = problem(422, "invalid_field", "Two \"fields\" are wrong.",
                          {{"/to/0", "no address"}, {"?limit", "1 to 100"}});
  BOOST_TEST(response.status == 422);
  BOOST_TEST(response.content_type == "application/problem+json");
  rapidjson::Document json;
  json.Parse(response.body.c_str());
  BOOST_REQUIRE(!json.HasParseError());
  BOOST_TEST(json["type"].GetString() == "invalid_field");
  BOOST_TEST(json["title"].GetString() == "Unprocessable Content");
  BOOST_TEST(json["status"].GetInt() == 422);
  BOOST_TEST(json["detail"].GetString() == "Two \"fields\" are wrong.");
  BOOST_REQUIRE(json["errors"].Size() == 2u);
  BOOST_TEST(json["errors"][1]["pointer"].GetString() == "?limit");
  BOOST_TEST(json["errors"][1]["detail"].GetString() == "1 to 100");
}

BOOST_AUTO_TEST_CASE(a_problem_without_wrong_fields_has_no_list_of_them) {
  rapidjson::Document json;
  json.Parse(problem(404, "not_found", "No such thing.").body.c_str());
  BOOST_TEST(!json.HasMember("errors"));
}

BOOST_AUTO_TEST_SUITE_END()
