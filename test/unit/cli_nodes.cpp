#include <boost/test/unit_test.hpp>

#include "tools/paceline/nodes.hpp"

using namespace paceline;

namespace {

node_status make_node(std::int64_t id, const std::string& name, double seen_ago_s = 1) {
  node_status node;
  node.id = node_id{id};
  node.name = name;
  node.seen_ago_s = seen_ago_s;
  return node;
}

std::int64_t picked(const std::vector<node_status>& nodes, const std::string& wanted) {
  const auto found = pick_node(nodes, wanted);
  BOOST_REQUIRE(found);
  return found->id.value();
}

error refused(const std::vector<node_status>& nodes, const std::string& wanted) {
  const auto found = pick_node(nodes, wanted);
  BOOST_REQUIRE(!found);
  return found.failure();
}

} // namespace

BOOST_AUTO_TEST_SUITE(cli_nodes)

BOOST_AUTO_TEST_CASE(the_only_running_node_needs_no_name) {
  BOOST_TEST(picked({make_node(1, "a")}, "") == 1);
  BOOST_TEST(picked({make_node(1, "a", 3600), make_node(2, "b")}, "") == 2);
  BOOST_TEST((refused({}, "").kind == error_kind::not_found));
  BOOST_TEST((refused({make_node(1, "a", 3600)}, "").kind == error_kind::not_found));
}

BOOST_AUTO_TEST_CASE(of_several_running_nodes_one_must_be_named) {
  const std::vector<node_status> nodes{make_node(1, "a"), make_node(2, "b")};
  const auto error = refused(nodes, "");
  BOOST_TEST((error.kind == error_kind::invalid));
  BOOST_TEST(error.text.find("1 (a), 2 (b)") != std::string::npos, error.text);
  BOOST_TEST(picked(nodes, "b") == 2);
  BOOST_TEST(picked(nodes, "1") == 1);
  BOOST_TEST((refused(nodes, "c").kind == error_kind::not_found));
}

BOOST_AUTO_TEST_CASE(two_nodes_of_one_name_need_the_id) {
  const std::vector<node_status> nodes{make_node(1, "a"), make_node(2, "a")};
  BOOST_TEST((refused(nodes, "a").kind == error_kind::invalid));
  BOOST_TEST(picked(nodes, "2") == 2);
}

BOOST_AUTO_TEST_CASE(a_running_node_goes_before_its_silent_predecessor) {
  const std::vector<node_status> nodes{make_node(1, "a", 3600), make_node(2, "a")};
  BOOST_TEST(picked(nodes, "a") == 2);
  BOOST_TEST(picked(nodes, "1") == 1);
  BOOST_TEST(picked({make_node(1, "a", 3600)}, "a") == 1);
}

BOOST_AUTO_TEST_CASE(the_state_says_what_an_operator_can_expect) {
  auto node = make_node(1, "a");
  BOOST_TEST(node_state(node) == "running");
  node.is_stopping = true;
  BOOST_TEST(node_state(node) == "stopping");
  node.seen_ago_s = silent_after_s + 1;
  BOOST_TEST(node_state(node) == "silent");
  node.has_stopped = true;
  BOOST_TEST(node_state(node) == "stopped");
}

BOOST_AUTO_TEST_SUITE_END()
