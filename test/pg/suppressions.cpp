/// The list of addresses that get no mail.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/suppressions.hpp"

using namespace paceline;
using namespace paceline::test;

BOOST_FIXTURE_TEST_SUITE(suppressions, dispatch_fixture)

BOOST_AUTO_TEST_CASE(an_address_has_one_spelling) {
  BOOST_TEST(normalized_address(" \tAnn.Lee@Example.ORG\r\n") == "ann.lee@example.org");
  BOOST_TEST(normalized_address("J\xc3\x9cRGEN@x.example") == "j\xc3\x9crgen@x.example");
  BOOST_TEST(normalized_address("  ") == "");
}

BOOST_AUTO_TEST_CASE(adding_and_removing_count_what_changed) {
  const project_id project{1};
  BOOST_TEST(must(add_suppressions(*db, project, "test", {"b@x.org", "A@x.org", "a@x.org"},
                                   "operator", "cli:me"))
             == 2);
  BOOST_TEST(
      must(add_suppressions(*db, project, "test", {"a@x.org", "c@x.org"}, "bounce", "cli:me"))
      == 1);
  BOOST_TEST(must(remove_suppressions(*db, project, "live", {"a@x.org"}, "cli:me")) == 0);
  BOOST_TEST(must(remove_suppressions(*db, project, "test", {"B@x.org", "z@x.org"}, "cli:me"))
             == 1);
  const auto all = must(list_suppressions(*db, project, "test", "", 100));
  BOOST_TEST(all.size() == 2U);
  BOOST_TEST(all.at(0).reason == "operator");
  BOOST_TEST(must(find_suppression(*db, project, "test", " C@X.org")).reason == "bounce");
  BOOST_TEST(
      (find_suppression(*db, project, "live", "c@x.org").failure().kind == error_kind::not_found));
  const auto rest = must(list_suppressions(*db, project, "test", "a@x.org", 100));
  BOOST_TEST(rest.at(0).address == "c@x.org");
  BOOST_TEST((add_suppressions(*db, project, "test", {"d@x.org"}, "mood", "cli:me").failure().kind
              == error_kind::data));
}

BOOST_AUTO_TEST_SUITE_END()
