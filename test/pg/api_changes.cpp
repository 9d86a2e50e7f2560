// Changes by the API: by whom, and that they leave a trail.

#include <boost/test/unit_test.hpp>

#include "test/pg/api_fixture.hpp"

using namespace paceline;
using namespace paceline::test;

BOOST_FIXTURE_TEST_SUITE(api_changes, api_fixture)

BOOST_AUTO_TEST_CASE(a_key_that_was_revoked_changes_nothing_although_it_is_remembered) {
  BOOST_TEST(call("GET", "/v1/suppressions").status == 200);
  must(revoke_key(*db, parse_token(token)->key, "cli:me"));
  BOOST_TEST(call("POST", "/v1/suppressions", R"({"addresses":["anna@example.com"]})").status
             == 401);
  BOOST_TEST(count("suppressions") == 0);
}

BOOST_AUTO_TEST_CASE(suppressing_and_releasing_leave_a_trail_without_the_address) {
  BOOST_TEST(call("POST", "/v1/suppressions", R"({"addresses":["anna@example.com"]})").status
             == 200);
  BOOST_TEST(call("POST", "/v1/suppressions", R"({"addresses":["anna@example.com"]})").status
             == 200);
  BOOST_TEST(call("DELETE", "/v1/suppressions/Anna@Example.com").status == 204);
  BOOST_TEST(ask("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log "
                 "WHERE action LIKE 'suppression.%' AND actor LIKE 'key:%'")
             == "suppression.add suppression.remove"); // the repeat has changed nothing
  BOOST_TEST(ask("SELECT count(*) FROM audit_log WHERE audit_log::text LIKE '%anna%'") == "0");
}

BOOST_AUTO_TEST_SUITE_END()
